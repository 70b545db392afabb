"""AdaBoost for two classes, with stumps, perceptrons, Fourier cosines or any oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kernsemble.boosting.stagewise import adaboost
from kernsemble.estimators._stagewise import StagewiseClassifier
from kernsemble.hypotheses.base import Oracle


class AdaBoost(StagewiseClassifier):
    """Discrete AdaBoost (Freund and Schapire 1997) for two classes.

    Every round adds the hypothesis of the smallest weighted error e, with weight log((1 - e) / e) / 2, and
    then weights the samples anew so that this hypothesis errs on exactly half of the weight.

    Parameters
    ----------
    n_rounds : int, default=100
        Largest number of rounds; boosting stops early when no hypothesis beats chance.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses: all decision stumps; perceptrons by random coordinate descent; a sampled pool
        of perceptrons, or of Fourier cosines. A callable ``base(X, random_state=..., **base_options)``
        returns an oracle.
    base_options : dict, default=None
        Options of the family, for instance ``{"n_updates": 500}``; see ``kernsemble.hypotheses``.
    perfect : float or "alone", default=1e-3
        What error a perfect hypothesis counts as, where e = 0 would give an infinite weight; or "alone": it
        becomes the whole ensemble.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, Generator, RandomState or None, default=None
        What random families draw with.
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
    classes_ : ndarray of shape (2,)
        Class labels.
    hypotheses_ : Hypotheses
        One hypothesis a round.
    weights_ : ndarray of shape ``(n_rounds_,)``
        Their weights.
    intercept_ : float
        0.0.
    errors_ : ndarray of shape ``(n_rounds_,)``
        Weighted errors of the hypotheses.
    objective_path_ : ndarray of shape ``(n_rounds_,)``
        Mean of exp(-y f(x)) after each round.
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
    AdaBoostMH : AdaBoost for several classes.
    CGEns : The hinge in place of the exponential loss, all weights solved anew, a certificate.
    sklearn.ensemble.AdaBoostClassifier : Boosts any classifier, such as trees.

    Notes
    -----
    Scaling, and what X may be: as in `CGEns`. A fit takes time in proportion to the entries of X, and no more
    than a few times their memory: millions of samples. No norm bounds the weights, so there is no optimum to
    certify: the number of rounds is the one choice, and `staged_predict` has the model after each.

    References
    ----------
    Y. Freund and R. Schapire, A decision-theoretic generalization of on-line learning and an application to
    boosting, Journal of Computer and System Sciences 55, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernsemble import AdaBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AdaBoost(50).fit(X, y).score(X, y) > 0.98
    True
    """

    _binary_only = True
    _odds = 2.0

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        perfect: float | str = 1e-3,
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
        return adaboost(oracle, data.signs, rounds, weight=data.weight, perfect=self.perfect, start=start)
