r"""Column generation: the one loop of CGENS, CGENS-SLS, LPBoost, CG-Boost, MultiBoost and MultiBoost-cw.

The problem over all hypotheses is too wide to write down, so a MASTER solves it over the columns found so
far and an ORACLE prices the others against the master's dual weights: Algorithms 1 and 2 of shen2014, 5.1
of bi2004, 1 of lin2012::

    price      h = argmax |sum_i V_i h(x_i)|, V = ``master.pricing_weights()``
    stop       if no hypothesis is missing, or the duality gap of the WHOLE problem is small
    add        h to the master
    solve      the master again, warm-started
    record     objective, gaps, violation, seconds, weights

Stopping rule. A hypothesis is missing when its score exceeds the master's threshold: 1 for an l1 norm; 0
for an l2 norm. As printed, Algorithm 1 of shen2014 never stops: there the score of a chosen column is its
weight w_j, not 0. So chosen columns are excluded from the search under an l2 norm, and the loop ends after
n_rounds, at the gap asked for, or when the hypotheses are exhausted. Under an l1 norm they score 1 up to
rounding; a search that ends at the first violation must not end at one of them, so there they are excluded
too.

The gap of the whole problem: for an l2 norm u stays feasible and the gap is the master's plus half the sum
of squared scores of all columns left out (equation (9)); for an l1 norm the master scales u into the
feasible set (``full_gap``), for which an oracle whose search ends before it has seen all scores is asked for
its ``largest_score``. The largest score alone bounds the l2 gap from below, so the sum is only taken when it
may decide.

One path. Oracles get V rounded to 30 bits of the largest, and break ties by the smallest key; a master that
has several dual solutions can return that of least norm. What is found then does not depend on how a
processor rounds. An l1 gap knows the largest score to that many bits, an l2 gap to the last.

Under an l2 norm multiples of u are feasible, too: at t u, 0 <= t <= 1, the dual objective is
``t L - 1/2 t^2 Q``, L the master's ``gain`` and Q the sum of all squares. The best t, min(1, L/Q), makes a
gap that never exceeds the objective. The nu forms fix the sum of u: they have no such multiples.

shen2014 symbols: alpha = u, J = number of columns, epsilon = ``epsilon``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from time import perf_counter
from typing import NamedTuple

import numpy as np

from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.base import Candidate, Oracle
from kernsemble.masters.base import Master, Solution, relative


class StopReason(Enum):
    """Why the loop stopped; the value says it in words."""

    NOTHING_MISSING = "no hypothesis is missing"
    GAP_REACHED = "gap of the whole problem reached"
    ROUNDS_REACHED = "number of rounds reached"
    CALLBACK = "stopped by the callback"


class Round(NamedTuple):
    """What one round did.

    Attributes
    ----------
    n_columns : int
        Columns in the master.
    objective, gap : float
        Primal objective, and duality gap of the master's own problem.
    full_gap : float
        Duality gap of the problem over all hypotheses; nan where it was not computed.
    violation : float
        Largest score among the hypotheses that are not chosen; 0 if none is left.
    oracle_seconds, master_seconds : float
        Time to find this round's columns, and to solve.
    """

    n_columns: int
    objective: float
    gap: float
    full_gap: float
    violation: float
    oracle_seconds: float
    master_seconds: float


@dataclass
class ColumnGeneration:
    """Outcome of `column_generation`.

    Attributes
    ----------
    keys : list
        The chosen hypotheses, in the order of the master's columns; ``oracle.collect(keys)`` evaluates them.
    outputs : list of int
        For which output (class) each was found.
    rounds : list of Round
        One entry a round.
    weights : list of (w, b)
        The master's weights after each round, over the columns it had then; empty if not kept.
    solution : Solution
        The last solution; if no hypothesis was ever missing, that of the master without columns, with the
        gap of the whole problem.
    reason : StopReason or None
        Why the loop stopped; None while it runs.
    score : float
        Largest score of a hypothesis at the end.
    shrink : float
        Multiple of the last dual weights that is feasible for the whole problem, and that ``gap`` belongs to.
    pricing : _Pricing or None
        What the last search found, with which more rounds begin.
    """

    keys: list[Hashable] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    weights: list[tuple[np.ndarray, float | np.ndarray]] = field(default_factory=list)
    solution: Solution | None = None
    reason: StopReason | None = None
    score: float = np.nan
    shrink: float = np.nan
    pricing: _Pricing | None = None

    @property
    def message(self) -> str:
        """Why the loop stopped, in words."""
        return self.reason.value if self.reason else ""

    def path(self, name: str) -> np.ndarray:
        """Return one quantity of `Round` over the rounds."""
        return np.array([entry._asdict()[name] for entry in self.rounds])

    @property
    def gap(self) -> float:
        """Duality gap of the whole problem at the end; nan for an infinite family."""
        return self.rounds[-1].full_gap if self.rounds else self.solution.gap

    @property
    def relative_gap(self) -> float:
        """``gap`` divided by the size of the objective."""
        return relative(self.gap, self.solution.objective)


def column_generation(
    oracle: Oracle,
    master: Master,
    rounds: int | Iterable[int],
    *,
    tol: float = 0.0,
    epsilon: float = 1e-6,
    per_output: bool = False,
    repeat: bool = False,
    keep_weights: bool = True,
    every_gap: bool = False,
    callback: Callable[[ColumnGeneration], bool | None] | None = None,
    start: ColumnGeneration | None = None,
) -> ColumnGeneration:
    """Solve a problem over all hypotheses of an oracle, one round of columns at a time.

    Parameters
    ----------
    oracle : Oracle
        Prices the hypotheses of one training set; the loop excludes those it chose if the norm is l2, or if
        a search may end early.
    master : Master
        Restricted problem, without columns yet.
    rounds : int or iterable
        Number of rounds, or something of that length to go through (a progress bar).
    tol : float, default=0.0
        Stop when the gap of the whole problem is at most ``tol`` times the objective.
    epsilon : float, default=1e-6
        Stop when no score exceeds the master's threshold by more than this.
    per_output : bool, default=False
        Whether a round adds a column for every output (MultiBoost-cw) or the best one of all.
    repeat : bool, default=False
        Whether a hypothesis found again is added again, for l1 masters that stop short of their optimum
        (stage-wise ones): there its score exceeds 1 although it is present.
    keep_weights : bool, default=True
        Whether to keep the weights of every round (of J columns: J^2 / 2 numbers in all).
    every_gap : bool, default=False
        Whether to compute the gap of the whole problem in every round, not only where it may decide.
    callback : callable, optional
        Called with the result after every round; stops the loop by returning True.
    start : ColumnGeneration, optional
        Result of an earlier call with the same oracle and master, as that left them: it is gone on with.

    Returns
    -------
    ColumnGeneration
        Chosen keys, the last solution, and a record of the rounds.

    References
    ----------
    Shen and Liu, From Kernel Machines to Ensemble Learning, 2014, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.stumps import StumpOracle
    >>> from kernsemble.masters.quadratic import Hinge
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> result = column_generation(StumpOracle(X), Hinge(y, C=10.0, tol=1e-6), 10, tol=1e-4)
    >>> result.keys[0].threshold, result.message, result.relative_gap < 1e-4
    (1.5, 'gap of the whole problem reached', True)
    """
    result = start or ColumnGeneration()
    pricing = result.pricing or _price(oracle, master, per_output, repeat, epsilon, result)
    if result.rounds and result.gap <= tol * abs(result.solution.objective):
        result.reason = StopReason.GAP_REACHED
        return result
    for _ in range(rounds) if isinstance(rounds, int) else rounds:
        if not pricing.missing:
            result.reason = StopReason.NOTHING_MISSING
            break
        oracle_seconds = pricing.seconds
        _add(oracle, master, pricing.missing, repeat, result)
        master_seconds = _solve(master, result)
        pricing = _price(oracle, master, per_output, repeat, epsilon, result)
        goal = tol * abs(result.solution.objective)
        limit = np.inf if every_gap else goal
        full_gap = _full_gap(oracle, master, pricing, result.solution, limit)
        _record(result, pricing.score, full_gap, (oracle_seconds, master_seconds), keep_weights)
        if callback is not None and callback(result):
            result.reason = StopReason.CALLBACK
            break
        if full_gap <= goal:
            result.reason = StopReason.GAP_REACHED
            break
    else:
        result.reason = StopReason.ROUNDS_REACHED
    return _certify(oracle, master, pricing, result)


class _Pricing(NamedTuple):
    """Missing columns with their outputs; the largest score; half its square summed over outputs."""

    missing: list[tuple[Candidate, int]]
    score: float
    half_squares: float
    seconds: float


def _price(oracle, master, per_output, repeat, epsilon, result) -> _Pricing:
    """Ask the oracle for the best hypotheses, and keep those that the master is missing."""
    start = perf_counter()
    V = cut_bits(master.pricing_weights())
    found = [(candidate, k) for k, candidate in enumerate(oracle.best(V))]
    scores = np.array([abs(candidate.score) for candidate, _ in found])
    if not per_output and found:
        found = [found[int(np.argmax(scores))]]
    chosen = set(zip(result.keys, result.outputs, strict=True)) if per_output else set(result.keys)
    missing = [
        (candidate, k)
        for candidate, k in found
        if abs(candidate.score) > master.threshold() + epsilon
        and (repeat or ((candidate.key, k) if per_output else candidate.key) not in chosen)
    ]
    seconds = perf_counter() - start
    return _Pricing(missing, float(scores.max(initial=0.0)), 0.5 * float(scores @ scores), seconds)


def _add(oracle, master, missing, repeat, result) -> None:
    """Add the columns to the master; exclude them from later searches where they could hide others."""
    # Under an l2 norm they score. Under an l1 norm they may exceed 1 by rounding, and a search that ends at
    # the first violation would end there.
    hides = _is_l2(master) or (oracle.ends_early and not repeat)
    for candidate, k in missing:
        master.add(candidate.column, k)
        result.keys.append(candidate.key)
        result.outputs.append(k)
        if hides:
            oracle.exclude(candidate.key)


def _is_l2(master: Master) -> bool:
    """Whether this is an `L2Master`; otherwise it is an `L1Master`."""
    return master.threshold() == 0.0


def _solve(master, result) -> float:
    """Solve the master; return the seconds it took."""
    start = perf_counter()
    result.solution = master.solve()
    return perf_counter() - start


def _full_gap(oracle, master, pricing, solution, limit) -> float:
    """Gap of the problem over all hypotheses; nan if it is above ``limit`` anyway and costs a sum."""
    if not _is_l2(master):
        gap = float(master.full_gap(pricing.score))
        if not oracle.ends_early:
            return gap
        # A search that stops at the first violation does not know the largest score.
        return (
            np.nan if gap > limit else float(master.full_gap(oracle.largest_score(master.pricing_weights())))
        )
    if _l2_gap(solution, pricing.half_squares) > limit:
        return np.nan
    V = master.pricing_weights()
    return _l2_gap(solution, 0.5 * sum(oracle.sum_of_squares(v) for v in V.reshape(len(V), -1).T))


def _l2_gap(solution, half_squares) -> float:
    """Gap at the best multiple of u, given half the sum of squared scores of the columns left out."""
    gain, dual = solution.gain, solution.dual_objective - half_squares
    if gain <= 0.0:
        dual = 0.0 * dual  # of u = 0; still nan for an infinite family
    elif dual < 0.5 * gain:  # L < Q = 2 (L - dual)
        dual = gain * (0.25 * gain / (gain - dual))
    return solution.objective - dual


def _shrink(master, solution, gap) -> float:
    """Multiple of u that has this gap: under an l1 norm the dual objective is linear in it."""
    dual = solution.objective - gap
    if master.threshold() > 0.0:
        return dual / solution.dual_objective if solution.dual_objective > 0.0 else 1.0
    if np.isnan(solution.gain):
        return 1.0
    return float(np.clip(2.0 * dual / solution.gain, 0.0, 1.0)) if solution.gain > 0.0 else 0.0


def _record(result, score, full_gap, seconds, keep_weights) -> None:
    """Write down what the round did."""
    solution = result.solution
    entry = Round(len(result.keys), solution.objective, solution.gap, full_gap, score, *seconds)
    result.rounds.append(entry)
    if keep_weights:
        result.weights.append((solution.w, solution.b))


def _certify(oracle, master, pricing, result) -> ColumnGeneration:
    """Fill in the last round's gap of the whole problem; solve the master if no round has."""
    solution = result.solution or master.solve()
    gap = result.rounds[-1].full_gap if result.rounds else np.nan
    if np.isnan(gap):
        gap = _full_gap(oracle, master, pricing, solution, np.inf)
    if result.rounds:
        result.rounds[-1] = result.rounds[-1]._replace(full_gap=gap)
    else:
        result.solution = replace(solution, gap=gap)
    result.score, result.shrink, result.pricing = pricing.score, _shrink(master, solution, gap), pricing
    return result
