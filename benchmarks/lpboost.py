"""Figure 2 of shen2014: CGENS beside LPBoost, whole fits; LPBoost's programs beside HiGHS, same columns."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
from race import Row, compare, once
from stumps import mnist_parity

from kernsemble import CGEns, LPBoost
from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.data import load
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.lp import HingeLP

PEERS = {
    "sifting": "LPBoost",
    "dual-simplex": "LPBoost, warm HiGHS dual simplex",
    "ipm": "LPBoost, HiGHS interior points",
}

# set, rounds, C
PORTABLE = ("mnist", 100, 2.0**-6), ("spam", 100, 0.1), ("pima", 100, 1.0), ("banana", 80, 1.0)
PORTABLE_NOTE = (
    "with few features the programs have many solutions: the search for that of least norm holds one bound "
    "after the other"
)
NOTE = (
    "each of our restricted problems is solved exactly, so that the path is the same on every computer: that "
    "takes twice as long as a solution to the tolerance"
)


def lpboost(
    X: np.ndarray, y: np.ndarray, C: float, n_rounds: int, solver: str, limit: float
) -> ColumnGeneration:
    """Run LPBoost until its rounds or the seconds are over."""
    stop = perf_counter() + limit
    master = HingeLP(y, C, solver=solver)
    return column_generation(StumpOracle(X), master, n_rounds, callback=lambda _: perf_counter() > stop)


def race(n_samples: int, n_rounds: int, solver: str, C: float = 2.0**-6, target: float = 50.0) -> Row:
    """Fit both; a peer that takes more than the target is stopped there: the ratio is then a lower bound.

    The two solve different problems; each must have solved its own in every round, to its tolerance.
    """
    X, y = mnist_parity(n_samples)
    CGEns(C=C, n_rounds=2, tol=None).fit(X[:500], y[:500])
    ours, model = once(lambda: CGEns(C=C, n_rounds=n_rounds, tol=None).fit(X, y))
    limit = np.inf if solver == "sifting" else 1.02 * target * ours
    theirs, peer = once(lambda: lpboost(X, y, C, n_rounds, solver, limit))
    solved = all(entry.gap <= 1e-3 * entry.objective for entry in [*model.rounds_, *peer.rounds])
    note = NOTE
    if len(peer.rounds) < n_rounds:
        note = f"LPBoost was stopped in round {len(peer.rounds)}: the ratio is a lower bound; {NOTE}"
    task = f"CGENS against LPBoost, {n_rounds} rounds, C = {C:.3g}"
    return compare(task, f"MNIST {n_samples} x 784", PEERS[solver], ours, theirs, target, solved, note)


def chosen(n_samples: int, n_rounds: int, C: float) -> tuple[np.ndarray, HingeLP, ColumnGeneration]:
    """Run LPBoost with our master; return the labels, the master and the run."""
    X, y = mnist_parity(n_samples)
    master = HingeLP(y, C)
    return y, master, column_generation(StumpOracle(X), master, n_rounds, keep_weights=False)


def master_race(n_samples: int, n_rounds: int, solver: str, C: float = 2.0**-6, target: float = 10.0) -> Row:
    """Solve LPBoost's program after each of our columns; a peer that takes more than the target is stopped.

    Both must certify the same objective, in every round that the peer came to.
    """
    chosen(500, 3, C)
    y, master, run = chosen(n_samples, n_rounds, C)
    H = master.outputs.select(np.arange(n_samples))
    ours, theirs, same = 0.0, 0.0, True
    peer = HingeLP(y, C, solver=solver)
    for done, entry in enumerate(run.rounds):
        if theirs > 1.02 * target * sum(each.master_seconds for each in run.rounds):
            break
        peer.add(H[:, done])
        seconds, solution = once(peer.solve)
        ours, theirs = ours + entry.master_seconds, theirs + seconds
        same &= abs(solution.objective - entry.objective) <= 1e-7 * entry.objective
        same &= entry.gap <= max(1e-10 * entry.objective, solution.gap)
    done = len(peer.solution.w)
    note = f"the peer was stopped in round {done} of {len(run.rounds)}" if done < len(run.rounds) else ""
    task = f"LPBoost's programs, {done} rounds, C = {C:.3g}"
    return compare(task, f"MNIST {n_samples} x 784", PEERS[solver], ours, theirs, target, same, note)


def portable_race(name: str, n_rounds: int, C: float, target: float = 0.5) -> Row:
    """Fit the ensemble that is the same on every computer, beside any that solves the programs."""
    X, y = mnist_parity(10_000) if name == "mnist" else (load(name).X, load(name).y)
    LPBoost(3, C=C, tol=None).fit(X[::20], y[::20])
    ours, model = once(lambda: LPBoost(n_rounds, C=C, tol=None).fit(X, y))
    theirs, peer = once(lambda: LPBoost(n_rounds, C=C, tol=None, portable=False).fit(X, y))
    solved = all(entry.gap <= 1e-9 * entry.objective for entry in [*model.rounds_, *peer.rounds_])
    size = f"{name} {X.shape[0]} x {X.shape[1]}"
    task = f"portable LPBoost, {n_rounds} rounds, C = {C:.3g}"
    return compare(task, size, "portable=False", ours, theirs, target, solved, PORTABLE_NOTE)


def rows() -> Iterator[Row]:
    """Run the races of this file."""
    yield from (portable_race(*fit) for fit in PORTABLE)
    fits = (10_000, 500, "dual-simplex"), (10_000, 100, "ipm"), (60_000, 100, "dual-simplex")
    yield from (race(*fit) for fit in fits)
    yield from (race(*fit, "sifting", target=1.0) for fit in ((10_000, 500), (60_000, 100)))
    yield from (master_race(*fit) for fit in fits)
