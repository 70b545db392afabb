"""Stage-wise boosting: AdaBoost and its multi-class forms .MH, .ECC and .MO, with any oracle.

All four lower an exponential loss by one hypothesis a round, found by the oracle for the current sample
weights D:

- AdaBoost: sum_i exp(-y_i f(x_i)), y_i = -1, +1 (Freund and Schapire 1997);
- AdaBoost.MH: sum_{i,k} exp(-Y_ik f_k(x_i)), Y_ik = +1 for the class of i and -1 for others. One hypothesis
  h serves all classes with votes of its own for each, f_k += a v_k h, v_k in {-1, +1} (Schapire and Singer
  1999);
- AdaBoost.ECC: sum_i sum_{k != y_i} exp(-(f_{y_i}(x_i) - f_k(x_i)) / 2). A round colors the classes with -1
  and +1, and h separates the colors: f_k += a mu_k h (Guruswami and Sahai 1999);
- AdaBoost.MO: sum_{i,s} exp(-code[y_i, s] g_s(x_i)): every column s of a code that is fixed beforehand has
  hypotheses of its own (Schapire and Singer 1999). One-against-all gives each class its own, as lin2012
  describes it.

The step is exact: a = log((1 - e) / e) / 2 for a weighted error e, after which the hypothesis errs on
exactly half of the weight. Weights are computed from the scores each round, in the log domain: they neither
drift nor underflow. The oracle gets them rounded to 30 bits of the largest, so that the hypothesis it finds
does not depend on how a processor rounds. Boosting stops early when no hypothesis beats chance.

There is no duality gap to report: earlier weights stay as they are, so no restricted problem is ever solved,
and the dual of the exponential loss without a norm asks for weights D under which every hypothesis has the
edge 0 exactly, which no finite round reaches. What the rounds do certify is the margin: for weights D that
sum to 1, the largest edge over the family bounds the least margin of every convex combination from above, so
with an exact oracle none of AdaBoost has a margin over ``1 - 2 * errors.max()``. The same holds for
AdaBoost.MH over the table of samples and classes, and for each column of the code of AdaBoost.MO; not for
AdaBoost.ECC, whose error is that of one coloring.

A perfect hypothesis (e = 0) would get an infinite weight; ``perfect`` says what error it counts as instead.
Libraries disagree: scikit-learn's weight is 1, and it stops; the code of linli2005's authors counts e as
1/1001, and goes on, as is done here: a random family may find other perfect hypotheses, and their mean is
better than one. Boosting stops when the same perfect hypothesis comes again.

Paper symbols: w_t = W[t] or alpha, u or D = D, mu = coloring, lambda = code.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from kernsemble.boosting.codes import COLORINGS
from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.base import Oracle, generator

_CHANCE = 1e-12  # an edge of this size is rounding: the hypothesis does not beat chance


class StopReason(Enum):
    """Why boosting stopped; the value says it in words."""

    ROUNDS_REACHED = "all rounds were run"
    EXHAUSTED = "the oracle has no hypothesis left"
    CHANCE = "no hypothesis beats chance"
    PERFECT = "a perfect hypothesis was found"
    PERFECT_AGAIN = "a perfect hypothesis was found again"


@dataclass(frozen=True)
class Boosted:
    """What boosting found.

    Attributes
    ----------
    keys : list of hashable
        The hypotheses' keys in their oracle, round by round (AdaBoost.MO: column by column within a round).
    W : ndarray of shape (J,) or (J, n_classes)
        Their weights: f = outputs @ W.
    errors : ndarray of shape (n_rounds,) or (n_rounds, n_columns)
        Weighted errors (1 - edge) / 2 of the hypotheses when they were found.
    losses : ndarray of shape (n_rounds,)
        Exponential loss after each round, as a fraction of the loss of f = 0.
    reason : StopReason
        Why boosting stopped.
    path : _Path
        What more rounds go on with: pass the result as ``start``.
    """

    keys: list[Hashable]
    W: np.ndarray
    errors: np.ndarray
    losses: np.ndarray
    reason: StopReason
    path: _Path = field(repr=False)

    @property
    def message(self) -> str:
        """Why boosting stopped, in words."""
        return self.reason.value


def adaboost(
    oracle: Oracle,
    y: np.ndarray,
    rounds: Iterable[int],
    *,
    weight: np.ndarray | None = None,
    perfect: float | str = 1e-3,
    start: Boosted | None = None,
) -> Boosted:
    """Run discrete AdaBoost (real-valued hypotheses must lie in [-1, 1]).

    Parameters
    ----------
    oracle : Oracle
        Finds hypotheses on the training set.
    y : ndarray of shape (n_samples,)
        Labels -1 and +1.
    rounds : iterable
        One hypothesis is added for each element (pass ``range(n)``, or a progress bar over it).
    weight : ndarray of shape (n_samples,), default=None
        Positive sample weights; None means equal ones.
    perfect : float or "alone", default=1e-3
        What error a perfect hypothesis counts as; or "alone": it becomes the whole ensemble, with weight 1,
        which is the limit of an infinite weight.
    start : Boosted, default=None
        Result of an earlier call with the same data, to go on with; not where it stopped early.

    Returns
    -------
    Boosted

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.boosting.stagewise import adaboost
    >>> from kernsemble.hypotheses.stumps import StumpOracle
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    >>> found = adaboost(StumpOracle(X), y, range(3))
    >>> found.errors.round(3)
    array([0.25 , 0.167, 0.2  ])
    """
    Y = np.asarray(y, dtype=np.float64)[:, None]
    least = None if perfect == "alone" else _error_rate(perfect)
    path = _boost_columns(oracle, Y, rounds, weight, least, start)
    return path.finished(np.array(path.W).reshape(-1), np.array(path.errors).reshape(-1))


def adaboost_mo(
    oracle: Oracle,
    labels: np.ndarray,
    code: np.ndarray,
    rounds: Iterable[int],
    *,
    weight: np.ndarray | None = None,
    perfect: float = 1e-3,
    start: Boosted | None = None,
) -> Boosted:
    """Run AdaBoost.MO: each round, a hypothesis for every column of a fixed code.

    Every column takes its own exact step, so the columns are AdaBoosts side by side. f_k(x) is the sum of
    g_s(x) over the columns s where class k has +1, which orders the classes as the inner product of g(x)
    with their code words does.

    Parameters
    ----------
    oracle, rounds, weight, perfect, start
        As in ``adaboost``; here ``perfect`` is a number.
    labels : ndarray of shape (n_samples,), int
        Classes 0..K-1.
    code : ndarray of shape (K, n_columns)
        Code words of -1 and +1; ``kernsemble.boosting.codes`` makes some.

    Returns
    -------
    Boosted
        With ``n_columns`` hypotheses a round.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.boosting.stagewise import adaboost_mo
    >>> from kernsemble.hypotheses.stumps import StumpOracle
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 2])
    >>> adaboost_mo(StumpOracle(X), labels, 2 * np.eye(3) - 1, range(2)).W.shape
    (6, 3)
    """
    code = np.asarray(code, dtype=np.float64)
    path = _boost_columns(oracle, code[labels], rounds, weight, _error_rate(perfect), start)
    W = np.array(path.W).reshape(-1, code.shape[1], 1) * (code.T > 0)
    return path.finished(W.reshape(-1, len(code)), np.array(path.errors))


def adaboost_mh(
    oracle: Oracle,
    labels: np.ndarray,
    n_classes: int,
    rounds: Iterable[int],
    *,
    weight: np.ndarray | None = None,
    perfect: float = 1e-3,
    start: Boosted | None = None,
) -> Boosted:
    """Run AdaBoost.MH: each round, one hypothesis, a vote of -1 or +1 for each class, and one weight.

    The hypothesis maximizes the edge sum_k |sum_i D_ik Y_ik h(x_i)|: as well as the oracle's
    ``best_shared`` does.

    Parameters
    ----------
    oracle, rounds, weight, perfect, start
        As in ``adaboost``; here ``perfect`` is a number.
    labels : ndarray of shape (n_samples,), int
        Classes 0..n_classes-1.
    n_classes : int
        Number of classes.

    Returns
    -------
    Boosted

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.boosting.stagewise import adaboost_mh
    >>> from kernsemble.hypotheses.stumps import StumpOracle
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 2])
    >>> found = adaboost_mh(StumpOracle(X), labels, 3, range(4))
    >>> H = StumpOracle(X).collect(found.keys).outputs(X)
    >>> (H @ found.W).argmax(axis=1)
    array([0, 1, 1, 2])
    """
    Y = np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
    prior = _prior(weight, Y)
    path, least = _Path.after(start, prior), _error_rate(perfect)
    scores, D = path.scores, path.D
    for _ in rounds:
        V = cut_bits(D, together=True) * Y
        found = oracle.best_shared(V)
        if found is None:
            path.reason = StopReason.EXHAUSTED
            break
        votes = np.where(V.T @ found.column >= 0, 1.0, -1.0)
        error = _weight_of_errors(D, Y * votes, found.column[:, None]).sum() / D.sum()
        if path.stops([found.key], error):
            break
        w = _step(error, least) * votes
        scores += np.outer(found.column, w)
        D, loss = _reweight(prior, Y * scores)
        path.add([found.key], w, error, loss, D)
    return path.finished(np.array(path.W).reshape(-1, n_classes), np.array(path.errors))


def adaboost_ecc(
    oracle: Oracle,
    labels: np.ndarray,
    n_classes: int,
    rounds: Iterable[int],
    *,
    coloring: str = "random",
    weight: np.ndarray | None = None,
    perfect: float = 1e-3,
    random_state: object = None,
    start: Boosted | None = None,
) -> Boosted:
    """Run AdaBoost.ECC: each round, a coloring of the classes and one hypothesis that separates the colors.

    Parameters
    ----------
    oracle, rounds, weight, perfect, start
        As in ``adaboost``; here ``perfect`` is a number.
    labels : ndarray of shape (n_samples,), int
        Classes 0..n_classes-1.
    n_classes : int
        Number of classes.
    coloring : {"random", "half", "maxcut"}, default="random"
        Both colors at random, each class on its own; half of the classes at random; or the coloring that
        cuts the most weight between classes (of up to 12 classes the maximum, beyond that a local one).
    random_state : int, Generator, RandomState or None, default=None
        What colorings are drawn with.

    Returns
    -------
    Boosted

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.boosting.stagewise import adaboost_ecc
    >>> from kernsemble.hypotheses.stumps import StumpOracle
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 2])
    >>> found = adaboost_ecc(StumpOracle(X), labels, 3, range(4), coloring="maxcut")
    >>> H = StumpOracle(X).collect(found.keys).outputs(X)
    >>> (H @ found.W).argmax(axis=1)
    array([0, 1, 1, 2])
    """
    if coloring not in COLORINGS:
        raise ValueError(f"coloring={coloring!r} is not known; choose one of {', '.join(COLORINGS)}.")
    own = labels[:, None] == np.arange(n_classes)
    prior = np.where(own, 0.0, _prior(weight, own))
    path, least, random = _Path.after(start, prior), _error_rate(perfect), generator(random_state)
    scores, D = path.scores, path.D
    for _ in rounds:
        colors = COLORINGS[coloring](own.astype(np.float64).T @ cut_bits(D, together=True), random)
        y = colors[labels]
        d = (D * (colors != y[:, None])).sum(axis=1)
        found = oracle.best(cut_bits(d) * y)
        if not found:
            path.reason = StopReason.EXHAUSTED
            break
        error = _weight_of_errors(d, y, found[0].column) / d.sum()
        if path.stops([], error):
            break
        w = _step(error, least) * colors
        scores += np.outer(found[0].column, w)
        D, loss = _reweight(prior, np.where(own, np.inf, 0.5 * (scores[own][:, None] - scores)))
        path.add([found[0].key], w, error, loss, D)
    return path.finished(np.array(path.W).reshape(-1, n_classes), np.array(path.errors))


@dataclass
class _Path:
    """What boosting has found so far."""

    keys: list[Hashable] = field(default_factory=list)
    W: list[np.ndarray] = field(default_factory=list)
    errors: list[np.ndarray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    reason: StopReason = StopReason.ROUNDS_REACHED
    scores: np.ndarray | None = None
    D: np.ndarray | None = None

    @classmethod
    def after(cls, start: Boosted | None, prior: np.ndarray) -> _Path:
        """Return the path of an earlier run, or one without rounds."""
        return cls(scores=np.zeros_like(prior), D=prior) if start is None else start.path

    def stops(self, keys: list[Hashable], errors: np.ndarray | float) -> bool:
        """Tell whether to stop before these hypotheses: none beats chance, or a perfect one comes again."""
        if not self.keys:
            return False  # an ensemble has at least one round, if one of weight zero
        if np.all(np.abs(0.5 - errors) < _CHANCE):
            self.reason = StopReason.CHANCE
            return True
        if keys and np.all(errors == 0) and keys == self.keys[-len(keys) :]:
            self.reason = StopReason.PERFECT_AGAIN
            return True
        return False

    def add(
        self,
        keys: list[Hashable],
        w: np.ndarray,
        errors: np.ndarray | float,
        loss: float,
        D: np.ndarray | None = None,
    ) -> None:
        """Record a round, and the weights D that the next begins with."""
        self.D = D
        self.keys += keys
        self.W.append(w)
        self.errors.append(errors)
        self.losses.append(loss)

    def finished(self, W: np.ndarray, errors: np.ndarray) -> Boosted:
        """Return the result."""
        return Boosted(self.keys, W, errors, np.array(self.losses), self.reason, self)


def _boost_columns(
    oracle: Oracle,
    Y: np.ndarray,
    rounds: Iterable[int],
    weight: np.ndarray | None,
    least: float | None,
    start: Boosted | None,
) -> _Path:
    """Run AdaBoost on each column of Y (n, S); without ``least`` it ends at a perfect hypothesis."""
    prior = _prior(weight, Y)
    path = _Path.after(start, prior)
    margins, D = path.scores, path.D
    for _ in rounds:
        found = oracle.best(cut_bits(D) * Y)
        if not found:
            path.reason = StopReason.EXHAUSTED
            break
        keys = [candidate.key for candidate in found]
        H = np.stack([candidate.column for candidate in found], axis=1)
        errors = _weight_of_errors(D, Y, H) / D.sum(axis=0)
        if path.stops(keys, errors):
            break
        if least is None and errors[0] == 0:
            path = _Path(reason=StopReason.PERFECT)
            path.add(keys, np.ones(1), errors, float(np.exp(-1.0)))
            break
        w = _step(errors, least or 0.0)
        margins += w * Y * H
        D, losses = _reweight(prior, margins, axis=0)
        path.add(keys, w, errors, float(np.mean(losses)), D)
    return path


def _prior(weight: np.ndarray | None, like: np.ndarray) -> np.ndarray:
    """Return the sample weights, for every column; unscaled: counts stay exact, and tie as they should."""
    weight = np.ones(len(like)) if weight is None else np.asarray(weight, dtype=np.float64)
    return np.repeat(weight[:, None], like.shape[1], axis=1)


def _reweight(
    prior: np.ndarray, margins: np.ndarray, axis: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return prior * exp(-margins) up to a factor, and its share of the prior's sum."""
    least = margins.min(axis=axis, keepdims=True)
    D = prior * np.exp(least - margins)
    return D, D.sum(axis=axis) * np.exp(-least).squeeze(axis) / prior.sum(axis=axis)


def _weight_of_errors(D: np.ndarray, Y: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Return sum_i D_i (1 - y_i h(x_i)) / 2 for each column, exactly 0 if perfect."""
    if H.dtype == np.int8:
        return np.where(Y != H, D, 0.0).sum(axis=0)
    return (D * (0.5 - 0.5 * Y * H)).sum(axis=0)


def _error_rate(perfect: float) -> float:
    """Return ``perfect``, checked."""
    if isinstance(perfect, str) or not 0 < perfect < 0.5:
        raise ValueError(
            f"perfect={perfect!r} must be an error rate between 0 and 0.5 (or 'alone', for AdaBoost)."
        )
    return float(perfect)


def _step(errors: np.ndarray | float, least: float) -> np.ndarray | float:
    """Return log((1 - e) / e) / 2, e = ``least`` for perfect hypotheses, and 0 at chance."""
    errors = np.where(errors == 0, least, errors)
    return np.where(np.abs(0.5 - errors) < _CHANCE, 0.0, 0.5 * (np.log1p(-errors) - np.log(errors)))
