"""scikit-learn estimators, one method a module. `kernsemble` re-exports every public class."""
