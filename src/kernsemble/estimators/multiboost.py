"""MultiBoost and MultiBoost-cw: totally corrective multi-class boosting (lin2012, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from kernsemble.column_generation import ColumnGeneration
from kernsemble.estimators._base import TrainingData, check_positive
from kernsemble.estimators._column_generation import ColumnGenerationClassifier
from kernsemble.estimators._probabilities import ProbabilisticClassifier
from kernsemble.hypotheses.base import Oracle, generator
from kernsemble.masters.base import Master
from kernsemble.masters.exponential import Exponential

_COST = 1e3  # default C, a wrong class
_EXACT = (
    1e-7  # relative gap of restricted problems: what is left hides no choice and no digit of an objective
)
_SHARE = 0.5  # of tol that a restricted problem may use up
_BLOCK = 32  # rounds whose scores are computed together


class MultiBoost(ProbabilisticClassifier, ColumnGenerationClassifier):
    """l1-regularized multi-class exponential loss over all hypotheses of a family.

    Every round prices the hypotheses for each class against the dual weights of the pairs (sample, wrong
    class), adds the best ones, and solves for all weights anew. Run to the end, the duality gap certifies the
    optimum over the whole family, which is the same for both forms:

    - ``per_class=True``, MultiBoost-cw: a round adds one hypothesis to each class that misses one, for that
      class alone;
    - ``per_class=False``, MultiBoost: a round adds the best hypothesis of all classes, with a weight in each.

    Parameters
    ----------
    n_rounds : int, default=300
        Largest number of rounds.
    C : float or None, default=None
        Weight of the MEAN loss exp(f_k - f_y) over samples and wrong classes k; in the paper 1e2 to 1e5.
        None is 1000 for each wrong class, 1000 (n_classes - 1).
    per_class : bool, default=True
        Whether each class has hypotheses of its own.
    base : {"stump", "perceptron", "perceptron-pool"} or callable, default="stump"
        Family of -1/+1 hypotheses, as in `CGEns`.
    base_options : dict, default=None
        Options of the family.
    solver : {"newton", "fcd", "lbfgsb"}, default="newton"
        How weights are found: Newton steps; the paper's coordinate descent for MultiBoost-cw; its choice for
        MultiBoost, with scipy's stopping rule.
    tol : float or None, default=1e-2
        Relative duality gap over all hypotheses at which the fit ends; it warns where ``n_rounds`` came
        first. None runs ``n_rounds`` without a warning. "newton" solves restricted problems to 1e-7 in any
        case, so that processors, which round differently, agree on all that follows.
    eps : float, default=0.1
        Violation of the optimality conditions at which "fcd" ends a round.
    tau_max : int, default=10
        Working set iterations of "fcd" in a round, at most. ``tau_max=1`` with ``C=1e8`` is the stage-wise
        MultiBoost-cw-1.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, Generator, RandomState or None, default=None
        What random families, and "fcd", draw with.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last fit, of the same data: more rounds are those of one long fit.
    n_iter_no_change : int or None, default=None
        End when so many rounds have not improved the accuracy on held-out samples; None holds none out.
    validation_fraction : float, default=0.1
        Share of each class that is held out, drawn by ``random_state``.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Draw a progress bar; 2 leaves it there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : Hypotheses
        The distinct hypotheses of the classes, in the order found.
    weights_ : ndarray of shape (n_hypotheses, n_classes), or (n_hypotheses,) for two classes
        Their weights.
    outputs_ : ndarray of shape (n_hypotheses,)
        The class each hypothesis was found for.
    intercept_ : float
        0.0.
    weights_path_ : list of (ndarray, float)
        Weights after each round over the hypotheses found by then: of shape (n,) if each belongs to one
        class, otherwise as ``weights_``.
    objective_path_, gap_path_ : ndarray of shape ``(n_rounds_,)``
        Objective after each round, and duality gap over all hypotheses.
    dual_gap_ : float
        Duality gap over all hypotheses at the end, never above the objective; nan for an infinite family.
    relative_gap_ : float
        ``dual_gap_`` divided by the objective.
    dual_weights_ : ndarray of shape (n_samples, n_classes)
        V: minus the dual weight lambda of each pair (sample, wrong class), and their sum at the own class,
        such that no hypothesis of any class scores more than 1. 0 for samples without weight.
    n_active_ : int
        Weights that are not 0.
    rounds_ : list of Round
        What each round did, with its seconds in oracle and master.
    n_rounds_ : int
        Rounds that were run.
    message_ : str
        Why the fit ended.
    validation_score_ : ndarray of shape ``(n_rounds_,)``
        Accuracy on the held-out samples after each round; with ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the total weight; stumps only.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    AdaBoostMH : Stage-wise and without a norm, for far more samples.
    CGEnsSLS : Least squares on codes of the classes.
    sklearn.ensemble.GradientBoostingClassifier : The logistic loss, stage-wise, over trees.

    Notes
    -----
    Scaling, what X may be and memory: as in `CGEns`. C multiplies a mean, so that it need not change with the
    number of samples. Probabilities are what the exponential loss says, as in AdaBoost: many rounds at a
    large C make them too sure, ``CalibratedClassifierCV`` mends that.

    References
    ----------
    G. Lin, C. Shen, A. van den Hengel and D. Suter, Fast Training of Effective Multi-class Boosting Using
    Coordinate Descent Optimization, ACCV 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import MultiBoost
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MultiBoost().fit(X, y)
    >>> model.score(X, y) > 0.95, model.relative_gap_ <= 1e-2
    (True, True)
    """

    _odds = 2.0

    def __init__(
        self,
        n_rounds: int = 300,
        *,
        C: float | None = None,
        per_class: bool = True,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        solver: str = "newton",
        tol: float | None = 1e-2,
        eps: float = 0.1,
        tau_max: int = 10,
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        self.n_rounds = n_rounds
        self.C = C
        self.per_class = per_class
        self.base = base
        self.base_options = base_options
        self.solver = solver
        self.tol = tol
        self.eps = eps
        self.tau_max = tau_max
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _master(self, data: TrainingData) -> Master:
        check_scalar(self.eps, "eps", Real, min_val=0)
        check_scalar(self.tau_max, "tau_max", Integral, min_val=1)
        return Exponential(
            data.labels,
            _COST * (data.n_classes - 1) if self.C is None else self.C,
            sample_weight=data.weight,
            per_class=self.per_class,
            solver=self.solver,
            tol=min(_EXACT, _SHARE * (self.tol or 1.0)),
            eps=self.eps,
            tau_max=self.tau_max,
            random_state=generator(self.random_state),
        )

    @property
    def _per_output(self) -> bool:
        return self.per_class

    @property
    def _repeat(self) -> bool:
        return self.solver != "lbfgsb"  # the others go on from where they stopped short of the optimum

    def _check_cost(self) -> None:
        if self.C is not None:
            check_positive(self.C, "C")
        if isinstance(self.base, str) and self.base == "fourier":
            raise ValueError(
                "base='fourier' has real values and MultiBoost needs hypotheses of -1 and +1: "
                "take CGEns, CGEnsSLS or LPBoost."
            )

    def _certify(self, data: TrainingData) -> None:
        """Keep what there is to say where no hypothesis has a weight."""
        self._keep_shares(data)

    def _dual_weights(self, master: Exponential, result: ColumnGeneration) -> np.ndarray:
        return master.shrink(result.score) * master.pricing_weights()

    def _keep(self, oracle: Oracle, result: ColumnGeneration) -> None:
        first: dict[tuple, int] = {}
        for j, entry in enumerate(zip(result.keys, result.outputs, strict=True)):
            first.setdefault(entry if self.per_class else entry[0], j)
        distinct = np.array(sorted(first.values()), dtype=np.intp)
        self.outputs_ = np.array(result.outputs, dtype=np.intp)[distinct]
        result = replace(
            result,
            keys=[result.keys[j] for j in distinct],
            solution=replace(result.solution, w=result.solution.w[distinct]),
            weights=[(self._path_weights(w[distinct[distinct < len(w)]]), b) for w, b in result.weights],
        )
        super()._keep(oracle, result)
        self.n_active_ = int(np.count_nonzero(self.weights_))
        self.weights_ = self._scores_weights(self.weights_)

    def _scores_weights(self, w: np.ndarray) -> np.ndarray:
        """Weights that turn outputs into scores: (n, n_classes), or (n,) for two classes."""
        if self.per_class:
            w = np.where(self.outputs_[: len(w), None] == np.arange(len(self.classes_)), w[:, None], 0.0)
        return w[:, 1] - w[:, 0] if len(self.classes_) == 2 else w

    def _path_weights(self, w: np.ndarray) -> np.ndarray:
        """What is kept of one round: columns of one class keep one number, unless there is one score only."""
        return w if self.per_class and len(self.classes_) > 2 else self._scores_weights(w)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield ``decision_function(X)`` after each round, with the weights of that round."""
        if not (self.per_class and len(self.classes_) > 2):
            yield from super().staged_decision_function(X)
            return
        H = self.hypotheses_.outputs(self._check_input(X))
        for start in range(0, self.n_rounds_, _BLOCK):
            yield from self._staged_block(H, self.weights_path_[start : start + _BLOCK])

    def _staged_block(self, H: np.ndarray, path: list) -> np.ndarray:
        """Scores after some rounds, (n_rounds, n_samples, n_classes): one product for each class."""
        W = np.zeros((H.shape[1], len(path)))
        for t, (w, _) in enumerate(path):
            W[: len(w), t] = w
        scores = np.zeros((len(path), len(H), len(self.classes_)))
        for k in range(len(self.classes_)):
            own = np.flatnonzero(self.outputs_[: len(path[-1][0])] == k)
            scores[:, :, k] = (H[:, own].astype(np.float64) @ W[own]).T
        return scores
