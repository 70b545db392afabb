"""AdaBoost for several classes: AdaBoost.MH, AdaBoost.ECC and AdaBoost.MO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from kernsemble.boosting.codes import all_colorings, one_against_all, random_code
from kernsemble.boosting.stagewise import adaboost_ecc, adaboost_mh, adaboost_mo
from kernsemble.estimators._stagewise import StagewiseClassifier
from kernsemble.hypotheses.base import Oracle

_EXHAUSTIVE_UP_TO = 12  # classes


class AdaBoostMH(StagewiseClassifier):
    """AdaBoost.MH (Schapire and Singer 1999): all classes share one hypothesis a round.

    Learns the n_samples x n_classes table of «is this its class?» with f_k += a v_k h: a hypothesis h, a
    vote v_k of -1 or +1 for each class, a weight a. Stumps are searched exactly for the best h and votes
    together. Being stage-wise it has no ``dual_gap_``; for stumps, which are searched exactly, no convex
    combination has a least margin Y_ik f_k above ``1 - 2 * errors_.max()``.

    Parameters
    ----------
    n_rounds : int, default=100
        Largest number of rounds; boosting stops early when no hypothesis beats chance.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses, as in ``AdaBoost``.
    base_options : dict, default=None
        Options of the family.
    perfect : float, default=1e-3
        What error a perfect hypothesis counts as, as in ``AdaBoost``.
    class_weight, random_state, warm_start, n_iter_no_change, validation_fraction, n_jobs, verbose
        As in `AdaBoost`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : Hypotheses
        One hypothesis a round.
    weights_ : ndarray of shape ``(n_rounds_, n_classes)``, or ``(n_rounds_,)`` for two classes
        Votes times weights.
    intercept_ : float
        0.0.
    errors_ : ndarray of shape ``(n_rounds_,)``
        Weighted errors over the table.
    objective_path_ : ndarray of shape ``(n_rounds_,)``
        Mean of exp(-Y_ik f_k(x_i)) after each round.
    n_rounds_ : int
        Rounds that were run.
    message_ : str
        Why boosting stopped.
    validation_score_ : ndarray of shape ``(n_rounds_,)``
        Accuracy on the held-out samples after each round; with ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the total weight; stumps only.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    AdaBoostMO : A hypothesis for each column of a code in every round.
    AdaBoostECC : One hypothesis a round, for two groups of classes.
    MultiBoost : The exponential loss of pairs of classes with a norm and a certificate.
    sklearn.ensemble.AdaBoostClassifier : Boosts any classifier, such as trees.

    Notes
    -----
    Scaling, what X may be, time and memory: as in `AdaBoost`, for each class.

    References
    ----------
    R. Schapire and Y. Singer, Improved boosting algorithms using confidence-rated predictions, Machine
    Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import AdaBoostMH
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMH(30).fit(X, y).score(X, y) > 0.95
    True
    """

    _one_against_rest = True

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        perfect: float = 1e-3,
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        super().__init__(
            n_rounds,
            base=base,
            base_options=base_options,
            perfect=perfect,
            class_weight=class_weight,
            random_state=random_state,
            warm_start=warm_start,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _boost(self, oracle, data, rounds, random, start):
        return adaboost_mh(
            oracle, data.labels, data.n_classes, rounds, weight=data.weight, perfect=self.perfect, start=start
        )


class AdaBoostECC(StagewiseClassifier):
    """AdaBoost.ECC (Guruswami and Sahai 1999): every round tells two groups of classes apart.

    A round colors the classes, and its hypothesis h separates the colors mu: f_k += a mu_k h. The ensemble
    is an error-correcting code grown column by column. Being stage-wise it has no ``dual_gap_``; nor do its
    errors bound the margin, because each is that of one coloring alone.

    Parameters
    ----------
    n_rounds : int, default=100
        Largest number of rounds; boosting stops early when no hypothesis beats chance.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses, as in ``AdaBoost``.
    base_options : dict, default=None
        Options of the family.
    coloring : {"random", "half", "maxcut"}, default="random"
        Colors of each class on its own at random; of half of the classes at random; or those that part the
        most weight between classes still confused.
    perfect : float, default=1e-3
        What error a perfect hypothesis counts as, as in ``AdaBoost``.
    class_weight, random_state, warm_start, n_iter_no_change, validation_fraction, n_jobs, verbose
        As in `AdaBoost`; colorings are drawn by ``random_state``, too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : Hypotheses
        One hypothesis a round.
    weights_ : ndarray of shape ``(n_rounds_, n_classes)``, or ``(n_rounds_,)`` for two classes
        Colors times weights.
    intercept_ : float
        0.0.
    errors_ : ndarray of shape ``(n_rounds_,)``
        Weighted errors of the hypotheses at their coloring.
    objective_path_ : ndarray of shape ``(n_rounds_,)``
        Mean of exp(-(f_y - f_k) / 2) over other classes k, after each round.
    n_rounds_ : int
        Rounds that were run.
    message_ : str
        Why boosting stopped.
    validation_score_ : ndarray of shape ``(n_rounds_,)``
        Accuracy on the held-out samples after each round; with ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the total weight; stumps only.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    AdaBoostMH : All classes share one hypothesis a round, each with a vote.
    AdaBoostMO : A code that is fixed beforehand.
    sklearn.multiclass.OutputCodeClassifier : Random codes over any classifier.

    Notes
    -----
    Scaling, what X may be, time and memory: as in `AdaBoost`. A round takes the time of two classes, however
    many there are; more classes need more rounds.

    References
    ----------
    V. Guruswami and A. Sahai, Multiclass learning, boosting, and error-correcting codes, COLT 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import AdaBoostECC
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostECC(30, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        coloring: str = "random",
        perfect: float = 1e-3,
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        super().__init__(
            n_rounds,
            base=base,
            base_options=base_options,
            perfect=perfect,
            class_weight=class_weight,
            random_state=random_state,
            warm_start=warm_start,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.coloring = coloring

    def _boost(self, oracle, data, rounds, random, start):
        return adaboost_ecc(
            oracle,
            data.labels,
            data.n_classes,
            rounds,
            coloring=self.coloring,
            weight=data.weight,
            perfect=self.perfect,
            random_state=random,
            start=start,
        )


def _has_probabilities(model: AdaBoostMO) -> bool:
    """Whether a column of the code tells one class from the rest, which is what its log-odds are of."""
    if not (isinstance(model.code, str) and model.code == "one-against-all"):
        raise AttributeError("AdaBoostMO has probabilities with code='one-against-all' only.")
    return True


class AdaBoostMO(StagewiseClassifier):
    """AdaBoost.MO (Schapire and Singer 1999): a code fixed beforehand, a hypothesis for each column a round.

    With the code «one against all» each class has hypotheses of its own, as lin2012 describes it. Being
    stage-wise it has no ``dual_gap_``; with stumps, which are searched exactly, no convex combination tells
    the classes apart in column s by a least margin above ``1 - 2 * errors_[:, s].max()``.

    Parameters
    ----------
    n_rounds : int, default=100
        Largest number of rounds; boosting stops early when no hypothesis beats chance.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses, as in ``AdaBoost``.
    base_options : dict, default=None
        Options of the family.
    code : {"one-against-all", "exhaustive", "random"} or array-like of shape (n_classes, n_columns), \
default="one-against-all"
        Code words of the classes: one column a class; all 2**(n_classes - 1) - 1 ways to part the classes
        (up to 12 classes); ceil(10 log2(n_classes)) random columns; or an array of -1 and +1 in the order
        of ``classes_``.
    perfect : float, default=1e-3
        What error a perfect hypothesis counts as, as in ``AdaBoost``.
    class_weight, random_state, warm_start, n_iter_no_change, validation_fraction, n_jobs, verbose
        As in `AdaBoost`; a random code is drawn by ``random_state``, too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    code_ : ndarray of shape (n_classes, n_columns)
        The code.
    hypotheses_ : Hypotheses
        ``n_columns`` hypotheses a round.
    weights_ : ndarray of shape ``(n_rounds_ * n_columns, n_classes)``, or 1-d for two classes
        Their weights, in the score of every class that has +1 in their column.
    intercept_ : float
        0.0.
    errors_ : ndarray of shape ``(n_rounds_, n_columns)``
        Weighted errors of the hypotheses.
    objective_path_ : ndarray of shape ``(n_rounds_,)``
        Mean of exp(-code[y_i, s] g_s(x_i)) after each round.
    n_rounds_ : int
        Rounds that were run.
    message_ : str
        Why boosting stopped.
    validation_score_ : ndarray of shape ``(n_rounds_,)``
        Accuracy on the held-out samples after each round; with ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the total weight; stumps only.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    AdaBoostMH : All classes share one hypothesis a round, each with a vote.
    AdaBoostECC : A code that grows by a column a round.
    sklearn.multiclass.OneVsRestClassifier : One classifier a class, each with weights of samples of its own.

    Notes
    -----
    Scaling, what X may be, time and memory: as in `AdaBoost`, for each column of the code.

    References
    ----------
    R. Schapire and Y. Singer, Improved boosting algorithms using confidence-rated predictions, Machine
    Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import AdaBoostMO
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMO(30).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        code: str | Any = "one-against-all",
        perfect: float = 1e-3,
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        super().__init__(
            n_rounds,
            base=base,
            base_options=base_options,
            perfect=perfect,
            class_weight=class_weight,
            random_state=random_state,
            warm_start=warm_start,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.code = code

    _one_against_rest = True

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, n_classes); with the code «one against all»."""
        return super().predict_proba(X)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba(X)``."""
        return super().predict_log_proba(X)

    def _boost(self, oracle, data, rounds, random, start):
        if start is None:
            self.code_ = _make_code(self.code, data.n_classes, random)
        options = {"weight": data.weight, "perfect": self.perfect, "start": start}
        return adaboost_mo(oracle, data.labels, self.code_, rounds, **options)


def _make_code(code: str | Any, n_classes: int, random: np.random.Generator) -> np.ndarray:
    """Return the named code, or the given one, checked."""
    if not isinstance(code, str):
        code = np.asarray(code, dtype=np.float64)
        if code.ndim != 2 or len(code) != n_classes or not np.isin(code, (-1.0, 1.0)).all():
            raise ValueError(f"code must be an array of -1 and +1 with {n_classes} rows, one for each class.")
        return code
    if code == "one-against-all":
        return one_against_all(n_classes)
    if code == "random":
        return random_code(n_classes, int(np.ceil(10 * np.log2(n_classes))), random)
    if code != "exhaustive":
        raise ValueError(
            f"code={code!r} is not known; choose 'one-against-all', 'exhaustive', 'random' or an array."
        )
    if n_classes > _EXHAUSTIVE_UP_TO:
        raise ValueError(f"code='exhaustive' would have 2**{n_classes - 1} - 1 columns; choose 'random'.")
    return all_colorings(n_classes)
