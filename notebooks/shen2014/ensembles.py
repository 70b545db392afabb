"""Ensembles of two classes read at several numbers of rounds, and their selection by cross-validation.

One fit serves all numbers of rounds: AdaBoost's first T hypotheses are AdaBoost after T rounds, and column
generation keeps its weights of every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from kernsemble.boosting.stagewise import adaboost
from kernsemble.column_generation import column_generation
from kernsemble.hypotheses.base import Hypotheses, Oracle
from kernsemble.masters.base import Master
from shen2014.draws import Draw, Folds


@dataclass(frozen=True)
class Stages:
    """An ensemble with its weights and intercept after each of some numbers of rounds."""

    hypotheses: Hypotheses
    weights: list[tuple[np.ndarray, float]]
    collect: Callable[[int | None], Hypotheses]  # the first hypotheses, as many as asked for

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions, a column for each number of rounds."""
        H = np.asarray(self.hypotheses.outputs(X), dtype=np.float64, order="F")
        return np.column_stack([H[:, : len(w)] @ w + b for w, b in self.weights])

    def truncated(self, index: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return the decision function after one of the numbers of rounds, which evaluates just those."""
        w, b = self.weights[index]
        return partial(self.collect(len(w)).decision, W=w, b=b)


def boost(oracle: Oracle, y: np.ndarray, rounds: Sequence[int]) -> Stages:
    """Run AdaBoost, and read it at some numbers of rounds."""
    boosted = adaboost(oracle, y, range(max(rounds)))
    first = lambda J: oracle.collect(boosted.keys[:J])  # noqa: E731
    return Stages(first(None), [(boosted.W[:T], 0.0) for T in rounds], first)


def generate(oracle: Oracle, master: Master, rounds: Sequence[int], tol: float) -> Stages:
    """Run column generation, and read it at some numbers of rounds."""
    result = column_generation(oracle, master, max(rounds), tol=tol)
    path = result.weights or [(result.solution.w, result.solution.b)]
    first = lambda J: oracle.collect(result.keys[:J])  # noqa: E731
    return Stages(first(None), [path[min(T, len(path)) - 1] for T in rounds], first)


Fit = Callable[[Draw, float, Sequence[int]], Stages]  # a training part, C and numbers of rounds
Family = Callable[[np.ndarray], Oracle]  # training rows give what a round may choose from


def boosting(family: Family) -> Fit:
    """Return how AdaBoost is fitted; it has no C."""

    def fit(part: Draw, _: float, rounds: Sequence[int]) -> Stages:
        return boost(family(part.X), part.y, rounds)

    return fit


@dataclass(frozen=True)
class Search:
    """Held-out samples classified correctly, by C and number of rounds."""

    Cs: Sequence[float]
    rounds: Sequence[int]
    correct: np.ndarray

    def best(self, column: int | None = None) -> tuple[float, int]:
        """Return C and the index of the number of rounds; among equals the smaller C, then fewer rounds.

        With a column, that number of rounds is taken, and C alone is searched.
        """
        if column is not None:
            return self.Cs[int(self.correct[:, column].argmax())], column
        i, j = np.unravel_index(self.correct.argmax(), self.correct.shape)
        return self.Cs[int(i)], int(j)

    def among(self, columns: Sequence[int]) -> tuple[float, int]:
        """Return C and the column of the number of rounds, when only some numbers of rounds are allowed."""
        C, j = Search(self.Cs, self.rounds, self.correct[:, list(columns)]).best()
        return C, columns[j]


def search(fit: Fit, data: Draw, folds: Folds, Cs: Sequence[float], rounds: Sequence[int]) -> Search:
    """Fit each C once on each fold, and count at every number of rounds."""
    correct = np.zeros((len(Cs), len(rounds)), dtype=np.int64)
    for train, held_out in folds:
        part = data.part(train, held_out)
        for i, C in enumerate(Cs):
            agree = (fit(part, C, rounds).scores(part.X_test) > 0) == (part.y_test > 0)[:, np.newaxis]
            correct[i] += agree.sum(axis=0)
    return Search(Cs, rounds, correct)


def errors_at(
    fit: Fit, data: Draw, rounds: Sequence[int], stages: Iterable[tuple[float, int]]
) -> dict[tuple[float, int], float]:
    """Return the test errors of some pairs of C and column of rounds, from one fit for each C."""
    longest: dict[float, int] = {}
    for C, column in stages:
        longest[C] = max(column, longest.get(C, 0))
    errors = {}
    for C, last in longest.items():
        scores = fit(data, C, rounds[: last + 1]).scores(data.X_test)
        errors |= {(C, column): data.error(scores[:, column]) for column in range(last + 1)}
    return errors
