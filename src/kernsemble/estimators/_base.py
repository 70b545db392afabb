"""What the ensemble classifiers share: checking input, encoding labels, predicting from weighted hypotheses.

A classifier derives from ``EnsembleClassifier``, writes ``__init__`` (stores only) and ``fit``, and
inherits the rest. ``fit`` begins with ``data = self._check_training(X, y, sample_weight)``, which sets
``classes_`` and ``n_features_in_`` and returns ``TrainingData``: rows of weight zero dropped, labels as
0..K-1, ``data.signs`` as -1/+1. It ends by setting

- ``hypotheses_``: what ``oracle.collect(keys)`` returned, J of them;
- ``weights_``: (J,) for a two-class score, (J, K) for one score a class; ``intercept_``: a float or (K,);
- ``n_rounds_``: rounds that were run;
- for the ``staged_*`` methods: nothing more if every round adds equally many hypotheses and leaves earlier
  weights alone (stage-wise methods); otherwise ``weights_path_``, one ``(w, b)`` a round, w over the first
  ``len(w)`` hypotheses (fully corrective methods).

``for _ in progress(self.n_rounds, self.verbose, type(self).__name__)`` draws a bar when ``verbose`` asks
for it. Class attributes: ``_binary_only = True`` refuses more than two classes; ``_input_types`` lists the
dtypes taken as they come (other input is converted to the first).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from kernsemble.hypotheses._threads import in_threads

LARGEST_PROJECTED = 1e150  # value of a feature: its square is far from infinity
MOST_FILLED = 2.0**32  # bytes of a sparse X that is filled in


@dataclass(frozen=True)
class TrainingData:
    """Checked training data.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        In one of the estimator's input types, C-contiguous, or CSR for stumps; never to be written to.
    labels : ndarray of shape (n_samples,), intp
        Index of each sample's class in ``classes_``.
    weight : ndarray of shape (n_samples,)
        Sample weights, all positive; ones where none were given.
    n_classes : int
        Number of classes, at least 2.
    used : ndarray of bool, of shape (n_rows,)
        Which of the rows that were given are the samples: those with a weight.
    """

    X: np.ndarray | csr_array
    labels: np.ndarray
    weight: np.ndarray
    n_classes: int
    used: np.ndarray

    @property
    def signs(self) -> np.ndarray:
        """Labels of a two-class problem as -1.0 and +1.0."""
        return 2.0 * self.labels - 1.0


def check_weights(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Return finite, non-negative sample weights of shape (n_samples,); None means ones."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
    )
    if weight.ndim == 0:
        return np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; expected ({n_samples},), one for each row."
        )
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative; its smallest entry is {weight.min():g}.")
    if not (weight > 0).any():
        raise ValueError("sample_weight is zero for all samples; at least one must be positive.")
    return weight


def class_factors(class_weight: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Factor of each sample's weight by its class; "balanced" gives classes equal sums of weights."""
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        return compute_sample_weight(class_weight, y)
    labels = np.unique(y, return_inverse=True)[1]
    totals = np.bincount(labels, weight)
    present = totals > 0
    factors = np.divide(totals.sum(), present.sum() * totals, where=present, out=np.ones(len(totals)))
    return factors[labels]


def refuse_huge(values: np.ndarray, limit: float, what: str = "X") -> None:
    """Refuse values beyond what a solver's squares and sums can hold, nan among them."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest <= limit:
        raise ValueError(f"{what} has values up to {largest:.3g}: scale the features, then fit again.")


def filled_in(X: Any, model: Any) -> np.ndarray:
    """Return X dense: distances and products of rows have no zeros to skip, and pairs of rows take more room.

    What takes more than ``MOST_FILLED`` bytes is refused.
    """
    if not issparse(X):
        return X
    size = float(X.dtype.itemsize) * X.shape[0] * X.shape[1]
    if size > MOST_FILLED:
        raise ValueError(
            f"{type(model).__name__} fills a sparse X in, and {X.shape[0]} x {X.shape[1]} values take "
            f"{size:.2g} bytes, above {MOST_FILLED:.2g}: take fewer rows at a time, fewer features "
            "(TruncatedSVD), or an estimator with base='stump', which keeps X sparse."
        )
    return X.toarray()


def _with_text(X: Any) -> str | None:
    """Say which columns hold text, where they have names; None if there is no text."""
    if not any(isinstance(value, str) for value in np.asarray(X, dtype=object).ravel()):
        return None
    kinds = X.dtypes.items() if hasattr(X, "iloc") else ()  # of pandas
    columns = [str(name) for name, kind in kinds if getattr(kind, "kind", "O") not in "biuf"]
    return f"Columns {', '.join(columns)} hold text" if columns else "X holds text"


def check_rounds(n_rounds: Any, name: str = "n_rounds") -> int:
    """Return a number of rounds, an integer of at least 1."""
    return int(check_scalar(n_rounds, name, Integral, min_val=1))


def checked_options(options: Any) -> dict[str, Any]:
    """Return ``base_options`` as a dict."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"base_options={options!r}: give a dict of the family's options, or None.")
    return dict(options or {})


def check_positive(value: Any, name: str) -> float:
    """Return a positive, finite number (``check_scalar`` lets NaN pass)."""
    check_scalar(value, name, Real, min_val=0, include_boundaries="neither")
    if not np.isfinite(value):
        raise ValueError(f"{name} == {value}, must be finite.")
    return float(value)


def check_tol(tol: Any) -> None:
    """Refuse a tolerance that is neither None nor positive."""
    if tol is not None:
        check_positive(tol, "tol")


def warn_of_gap(name: str, rounds: int, gap: float, tol: float, remedy: str, stacklevel: int = 5) -> None:
    """Say that a fit ended above its tolerance; the relative gap is nan where a family is infinite."""
    if gap > tol:
        warnings.warn(
            f"{name} ended after {rounds} rounds with a relative duality gap of {gap:.2g}, "
            f"above tol={tol:g}. {remedy}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def at_rows(values: np.ndarray, used: np.ndarray, kept: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Spread values of the kept ones among the used rows over all rows; zeros elsewhere."""
    spread = np.zeros((len(used), *values.shape[1:]))
    spread[np.flatnonzero(used)[kept]] = values
    return spread


def progress(total: int, verbose: bool | int, description: str, unit: str = "round") -> Iterable[int]:
    """Return ``range(total)``, with a progress bar on stderr when verbose, which counts the units named."""
    if not verbose:
        return range(total)
    check_scalar(verbose, "verbose", (bool, np.bool_, Integral))
    from tqdm.auto import tqdm  # imported here: a quiet fit does not pay for it

    return tqdm(range(total), desc=description, unit=unit, leave=bool(verbose > 1))


class CheckedInput(BaseEstimator):
    """Mixin: validates X by what the estimator can take, and says so in its tags.

    Stumps take sparse and single-precision X as they are, and NaN as a branch of its own. Kernels and linear
    machines take sparse X filled in. Other families of hypotheses take neither.
    """

    _input_types: tuple[type, ...] = (np.float64,)
    n_jobs: int | None = None
    _kept = None  # what a warm start goes on with

    def __getstate__(self):
        state = super().__getstate__().copy()
        state.pop("_kept", None)  # of a warm start, whose rounds a new fit runs as well
        return state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.allow_nan = self._has_stumps()
        return tags

    def _has_stumps(self) -> bool:
        """Whether the hypotheses are stumps."""
        base = getattr(self, "base", None)
        return isinstance(base, str) and base == "stump"

    def _takes_sparse(self) -> bool:
        """Whether X may be sparse."""
        return self._has_stumps() or not hasattr(self, "base")

    def _types_for(self, X: Any) -> list[type]:
        """Return the input types; an oracle of the user's takes a memory-mapped file of float32 as it is."""
        mapped = isinstance(X, np.memmap) and X.dtype == np.float32 and callable(getattr(self, "base", None))
        return [*self._input_types, np.float32] if mapped or self._has_stumps() else list(self._input_types)

    def _validated(self, X: Any, *y: Any, **options: Any) -> Any:
        """Return X checked, or X and y if y is given."""
        options = {"dtype": self._types_for(X), "order": "C"} | options
        options["accept_sparse"] = "csr" if self._takes_sparse() else False
        options["ensure_all_finite"] = "allow-nan" if self._has_stumps() else True
        try:
            found = validate_data(self, X, *y, **options)
        except ValueError as error:
            said = _with_text(X)
            if said is None:
                raise
            raise ValueError(
                f"{error}. {said}: turn categories into numbers first, by OrdinalEncoder or OneHotEncoder."
            ) from error
        if self._has_stumps():
            return found
        X, *y = found if y else (found,)
        X = filled_in(X, self)
        if isinstance(getattr(self, "base", None), str):  # projections of longer rows overflow
            refuse_huge(X, LARGEST_PROJECTED)
        return (X, *y) if y else X


class EnsembleClassifier(ClassifierMixin, CheckedInput):
    """Base of the classifiers f(x) = sum_j w_j h_j(x) + b; the module says what ``fit`` must set."""

    _binary_only = False
    _input_types = (np.float64, np.uint8)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary_only
        return tags

    def _check_training(self, X: Any, y: Any, sample_weight: Any = None) -> TrainingData:
        """Validate training data, learn ``classes_``, drop rows of weight zero."""
        X, y = self._validated(X, y)
        check_classification_targets(y)
        weight = check_weights(sample_weight, X.shape[0])
        check_consistent_length(X, y, weight)
        if getattr(self, "class_weight", None) is not None:
            weight = check_weights(weight * class_factors(self.class_weight, y, weight), X.shape[0])
        used = weight > 0
        if not used.all():  # a row without weight must not even move a threshold
            X, y, weight = X[used], y[used], weight[used]
        self.classes_, labels = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        self._majority = int(np.bincount(labels, weight).argmax())
        if n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but the data contains "
                f"only one class: {self.classes_[0]!r}."
            )
        if self._binary_only and n_classes > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass. "
                f"{type(self).__name__} got {n_classes} classes: take AdaBoostMH, CGEns or MultiBoost, "
                "or put scikit-learn's OneVsRestClassifier around it."
            )
        return TrainingData(X, labels, weight, n_classes, used)

    def _check_input(self, X: Any) -> np.ndarray:
        """Validate data to predict for: fitted, of the training width, finite or not as in training."""
        check_is_fitted(self)
        return self._validated(X, reset=False)

    @in_threads
    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores: (n,), positive for ``classes_[1]``, if two-class; otherwise (n, n_classes)."""
        return self._decide(self._check_input(X))

    def _decide(self, X: np.ndarray) -> np.ndarray:
        """Scores of checked rows."""
        return self.hypotheses_.decision(X, self.weights_, self.intercept_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest score; a tie goes to the first class.

        Without any hypothesis and intercept it is the class of the largest weight in training.
        """
        return self._classes_of(self.decision_function(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield ``decision_function(X)`` after each round; nothing where no round was run."""
        X = self._check_input(X)
        H = self.hypotheses_.outputs(X)
        if hasattr(self, "weights_path_"):
            H = np.asarray(H, dtype=np.float64, order="F")
            for w, b in self.weights_path_:
                yield H[:, : len(w)] @ w + b
        else:
            yield from self._staged_sums(H)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield ``predict(X)`` after each round; nothing where no round was run."""
        for scores in self.staged_decision_function(X):
            yield self._classes_of(scores)

    def _staged_sums(self, H: np.ndarray) -> Iterator[np.ndarray]:
        """Yield running sums over rounds that add equally many hypotheses."""
        step = max(1, H.shape[1] // max(1, self.n_rounds_))
        scores = np.zeros((len(H), *self.weights_.shape[1:])) + self.intercept_
        for start in range(0, H.shape[1], step):
            rows = slice(start, start + step)
            scores = scores + H[:, rows] @ self.weights_[rows]
            yield scores

    def _classes_of(self, scores: np.ndarray) -> np.ndarray:
        """Return class labels for scores of one column or of one column a class."""
        index = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        if self._is_empty():
            index[:] = self._majority
        return self.classes_[index]

    def _is_empty(self) -> bool:
        """Whether the scores are 0 whatever X is."""
        return not (np.any(getattr(self, "weights_", True)) or np.any(self.intercept_))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the total absolute weight; stumps only."""
        check_is_fitted(self)
        if not hasattr(self.hypotheses_, "feature_importances"):
            raise AttributeError(
                f"feature_importances_ exists for stumps only; this {type(self).__name__} was fitted with "
                f"{type(self.hypotheses_).__name__}."
            )
        return self.hypotheses_.feature_importances(self.weights_)
