from sklearn.utils.estimator_checks import parametrize_with_checks

from kernsemble import ExRM

CHECKED = [
    ExRM(),
    ExRM(3, p=1),
    ExRM(3, solver="admm"),
    ExRM(3, solver="printed", start="random", random_state=0),
]


def exempt(estimator):
    """Weights and repeated rows change the path of an iterative solver, though not its target."""
    if estimator.solver == "exact":
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": "the iterates stop before the common limit"}


@parametrize_with_checks(CHECKED, expected_failed_checks=exempt)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
