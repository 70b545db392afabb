"""Fits whose progress is written down: weights at checkpoints, and the seconds of the processor until then.

Seconds are those of this process on the processor, on one thread, so that other programs do not count. The
clock starts before the features are sorted. A fit that ends early keeps its last values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from kernsemble.boosting.codes import all_colorings, one_against_all, random_code
from kernsemble.boosting.stagewise import adaboost_ecc, adaboost_mh, adaboost_mo
from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.base import Candidate, Hypotheses, Oracle
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.base import Solution
from kernsemble.masters.exponential import Exponential
from kernsemble.masters.exponential_solvers import ExponentialState
from lin2012.draws import Draw

_BLOCK = 2000  # test rows whose outputs are held at once
_ZERO = 1e-6  # of the largest weight: smaller ones count as 0, because L-BFGS-B may leave dust


@dataclass(frozen=True)
class Penalties:
    """C of boosters that solve for all weights anew, and of those that are stage-wise."""

    pair_C: float  # noqa: N815 - its name in params.yaml
    stagewise_C: float  # noqa: N815 - its name in params.yaml


class Snapshot(NamedTuple):
    """What a fit was like after some round."""

    w: np.ndarray
    seconds: float
    solver_seconds: float
    objective: float


@dataclass
class Fitted:
    """A fit with its snapshots at checkpoints.

    Attributes
    ----------
    hypotheses : Hypotheses
        J of them, in the order found.
    keys : list
        Their names.
    outputs : ndarray of shape (J,), or None
        The class that each belongs to; None if they serve all classes, with weights (J_t, K).
    n_classes : int
        Number of classes K.
    snapshots : list of Snapshot
        One for each checkpoint; a fit that ended early repeats its last.
    rounds : int
        Rounds that were run.
    oracle_seconds : float
        Seconds in the search for hypotheses, per round.
    """

    hypotheses: Hypotheses
    keys: list[Hashable]
    outputs: np.ndarray | None
    n_classes: int
    snapshots: list[Snapshot]
    rounds: int
    oracle_seconds: float = math.nan

    def errors(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the error in percent at each checkpoint."""
        tables = [self._table(k) for k in range(self.n_classes)]
        wrong = np.zeros(len(self.snapshots))
        for first in range(0, len(X), _BLOCK):
            H = self.hypotheses.outputs(X[first : first + _BLOCK])
            scores = np.stack([_product(H, own, W) for own, W in tables], axis=2)
            wrong += (scores.argmax(axis=2) != labels[first : first + _BLOCK, None]).sum(axis=0)
        return 100.0 * wrong / len(X)

    def _table(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the hypotheses with a weight in class k, and their weights at all checkpoints."""
        W = np.zeros((len(self.keys), len(self.snapshots)))
        for t, (w, *_) in enumerate(self.snapshots):
            if self.outputs is None:
                W[: len(w), t] = w[:, k]
            else:
                W[: len(w), t] = np.where(self.outputs[: len(w)] == k, w, 0.0)
        own = np.flatnonzero(W.any(axis=1))
        return own, W[own]

    @property
    def learners(self) -> np.ndarray:
        """Distinct hypotheses at each checkpoint; those of different classes are different."""
        seen: set[Hashable] = set()
        counts = [0]
        for j, key in enumerate(self.keys):
            seen.add(key if self.outputs is None else (key, int(self.outputs[j])))
            counts.append(len(seen))
        return np.array([counts[len(entry.w)] for entry in self.snapshots])

    @property
    def active(self) -> np.ndarray:
        """Weights that are not 0 at each checkpoint; those of the same hypothesis and class are one."""
        return np.array([np.count_nonzero(self._merged(entry.w)) for entry in self.snapshots])

    def _merged(self, w: np.ndarray) -> np.ndarray:
        """Return the weights with those of equal hypotheses added up, dust removed."""
        names = self.keys if self.outputs is None else list(zip(self.keys, self.outputs, strict=True))
        first = {name: j for j, name in reversed(list(enumerate(names[: len(w)])))}
        merged = np.zeros_like(w)
        np.add.at(merged, [first[name] for name in names[: len(w)]], w)
        return np.where(merged > _ZERO * merged.max(initial=0.0), merged, 0.0)

    @property
    def classes_per_learner(self) -> float:
        """Mean number of classes in which a distinct hypothesis has a weight, at the end."""
        return float(self.active[-1] / self.learners[-1])

    def path(self, name: str) -> np.ndarray:
        """Return a quantity of the snapshots."""
        return np.array([entry._asdict()[name] for entry in self.snapshots])


def _product(H: np.ndarray, own: np.ndarray, W: np.ndarray) -> np.ndarray:
    return H[:, own].astype(np.float64) @ W


class TimedStumps(StumpOracle):
    """All stumps, with the seconds and the number of searches."""

    def __init__(self, X: np.ndarray):
        super().__init__(X)
        self.seconds, self.searches = 0.0, 0

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Search, and count."""
        start = process_time()
        found = super().best(V)
        self.seconds += process_time() - start
        self.searches += 1
        return found


class TimedMaster(Exponential):
    """The master of problem (2), with the seconds in its solver."""

    seconds = 0.0

    def solve(self, target: float = -math.inf) -> Solution:
        """Solve, and count."""
        start = process_time()
        solution = super().solve(target)
        self.seconds += process_time() - start
        return solution

    def full_gap(self, score: float) -> float:
        """Spare the certificate: none of the timed methods asks for it."""
        return math.inf


@dataclass
class _Recorder:
    """Takes snapshots at checkpoints; its own seconds do not count."""

    master: TimedMaster
    checkpoints: set[int]
    start: float
    limit: float
    own: float = 0.0
    last: float = 0.0
    snapshots: dict[int, Snapshot] = field(default_factory=dict)

    def __call__(self, result: ColumnGeneration) -> bool:
        now, T = process_time(), len(result.rounds)
        self.last = now - self.start - self.own
        if T in self.checkpoints:
            self.take(result, T)
        self.own += process_time() - now
        return self.last > self.limit

    def take(self, result: ColumnGeneration, T: int) -> None:
        """Write down the present state as that after T rounds."""
        w = np.array(result.solution.w)
        self.snapshots[T] = Snapshot(w, self.last, self.master.seconds, result.solution.objective)


def generate(
    data: Draw,
    checkpoints: Sequence[int],
    *,
    oracle: Oracle | None = None,
    limit: float = math.inf,
    **options: Any,
) -> Fitted:
    """Fit problem (2) by column generation up to a limit of seconds; options are those of ``Exponential``."""
    start = process_time()
    oracle = TimedStumps(data.X) if oracle is None else oracle
    master = TimedMaster(data.labels, **options)
    recorder = _Recorder(master, set(checkpoints), start, limit)
    result = column_generation(
        oracle,
        master,
        max(checkpoints),
        per_output=master.per_class,
        repeat=options.get("solver") != "lbfgsb",  # the others go on from where they stopped short
        keep_weights=False,
        callback=recorder,
    )
    T = len(result.rounds)
    recorder.take(result, T)
    snapshots = [recorder.snapshots[min(point, T)] for point in checkpoints]
    outputs = np.array(result.outputs, dtype=np.intp) if master.per_class else None
    found = oracle.collect(result.keys)
    return Fitted(found, result.keys, outputs, data.n_classes, snapshots, T, _seconds_of_search(oracle))


def _seconds_of_search(oracle: Oracle) -> float:
    return oracle.seconds / oracle.searches if isinstance(oracle, TimedStumps) else math.nan


def generate_stagewise(
    data: Draw, checkpoints: Sequence[int], C: float, *, per_class: bool = True, oracle: Oracle | None = None
) -> Fitted:
    """Fit one round of weights after the other (tau_max = 1): earlier ones are never looked at again."""
    start = process_time()
    oracle = TimedStumps(data.X) if oracle is None else oracle
    state = ExponentialState(data.labels, data.n_classes, C)
    keys, outputs, solver_seconds, T, snapshots = [], [], 0.0, 0, {}
    for T in range(1, max(checkpoints) + 1):
        found = _missing(oracle.best(cut_bits(state.signed_weights())), per_class)
        if not found:
            T -= 1
            break
        before = process_time()
        for candidate, k in found:
            keys.append(candidate.key)
            outputs.append(k)
            classes = np.array([k]) if per_class else np.arange(data.n_classes)
            state.coordinate_pass(state.append(candidate.column, classes))
        now = process_time()
        solver_seconds += now - before
        if T in checkpoints:
            snapshots[T] = Snapshot(state.w.copy(), now - start, solver_seconds, state.objective)
    snapshots.setdefault(T, Snapshot(state.w.copy(), process_time() - start, solver_seconds, state.objective))
    shape = (-1,) if per_class else (-1, data.n_classes)
    taken = [snapshots[min(point, T)] for point in checkpoints]
    taken = [entry._replace(w=entry.w.reshape(shape)) for entry in taken]
    classes, seconds = np.array(outputs) if per_class else None, _seconds_of_search(oracle)
    return Fitted(oracle.collect(keys), keys, classes, data.n_classes, taken, T, seconds)


def _missing(found: list[Candidate], per_class: bool) -> list[tuple[Candidate, int]]:
    """Return the hypotheses whose constraint (3b) is violated, with their classes: all, or the worst."""
    pairs = [(candidate, k) for k, candidate in enumerate(found) if candidate.score > 1.0 + 1e-6]
    return pairs if per_class else sorted(pairs, key=lambda pair: -pair[0].score)[:1]


@dataclass
class Clock:
    """Counts rounds and writes down the seconds until each begins; stops at a limit."""

    limit: float = math.inf
    start: float = field(default_factory=process_time)
    seconds: list[float] = field(default_factory=list)

    def rounds(self, n: int) -> Iterator[int]:
        """Yield 0 .. n - 1, as long as the limit is not passed."""
        for t in range(n):
            self.seconds.append(process_time() - self.start)
            if self.seconds[-1] > self.limit:
                return
            yield t
        self.seconds.append(process_time() - self.start)


def make_code(name: str, n_classes: int, random: np.random.Generator) -> np.ndarray:
    """Return a code for AdaBoost.MO: one column a class, all colorings, or ceil(10 log2 K) random ones."""
    if name == "one-against-all":
        return one_against_all(n_classes)
    if name == "exhaustive":
        return np.array(all_colorings(n_classes))
    return random_code(n_classes, math.ceil(10 * math.log2(n_classes)), random)


def boost(
    method: str,
    data: Draw,
    checkpoints: Sequence[int],
    option: str,
    random: np.random.Generator,
    *,
    limit: float = math.inf,
    oracle: Oracle | None = None,
) -> Fitted:
    """Run AdaBoost.ECC (option: coloring), .MH (none) or .MO (option: code) up to a limit of seconds."""
    clock = Clock(limit)
    oracle = TimedStumps(data.X) if oracle is None else oracle
    rounds, K, per_round = clock.rounds(max(checkpoints)), data.n_classes, 1
    if method == "Ada.MH":
        found = adaboost_mh(oracle, data.labels, K, rounds)
    elif method == "Ada.ECC":
        found = adaboost_ecc(oracle, data.labels, K, rounds, coloring=option, random_state=random)
    else:
        code = make_code(option, K, random)
        per_round = code.shape[1]
        found = adaboost_mo(oracle, data.labels, code, rounds)
    T = len(found.losses)
    seconds = [*clock.seconds, process_time() - clock.start]
    snapshots = [
        Snapshot(found.W[: per_round * min(point, T)], seconds[min(point, T)], math.nan, math.nan)
        for point in checkpoints
    ]
    return Fitted(oracle.collect(found.keys), found.keys, None, K, snapshots, T)
