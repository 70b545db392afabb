"""Ensembles of two classes read at several numbers of rounds, and their selection by cross-validation.

One fit serves all numbers of rounds: AdaBoost's first T hypotheses are AdaBoost after T rounds, and column
generation keeps its weights of every round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernsemble.boosting.stagewise import adaboost
from kernsemble.column_generation import column_generation
from kernsemble.experiments.shen2014.draws import Draw, Folds
from kernsemble.hypotheses.base import Hypotheses, Oracle
from kernsemble.masters.base import Master


@dataclass(frozen=True)
class Stages:
    """An ensemble with its weights and intercept after each of some numbers of rounds."""

    hypotheses: Hypotheses
    weights: list[tuple[np.ndarray, float]]

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions, a column for each number of rounds."""
        H = np.asarray(self.hypotheses.outputs(X), dtype=np.float64, order="F")
        return np.column_stack([H[:, : len(w)] @ w + b for w, b in self.weights])


def boost(oracle: Oracle, y: np.ndarray, rounds: Sequence[int]) -> Stages:
    """Run AdaBoost, and read it at some numbers of rounds."""
    boosted = adaboost(oracle, y, range(max(rounds)))
    return Stages(oracle.collect(boosted.keys), [(boosted.W[:T], 0.0) for T in rounds])


def generate(oracle: Oracle, master: Master, rounds: Sequence[int], tol: float) -> Stages:
    """Run column generation, and read it at some numbers of rounds."""
    result = column_generation(oracle, master, max(rounds), tol=tol)
    path = result.weights or [(result.solution.w, result.solution.b)]
    return Stages(oracle.collect(result.keys), [path[min(T, len(path)) - 1] for T in rounds])


Fit = Callable[[Draw, float], Stages]  # a training part and a value of C give an ensemble


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


def search(fit: Fit, data: Draw, folds: Folds, Cs: Sequence[float], rounds: Sequence[int]) -> Search:
    """Fit each C once on each fold, and count at every number of rounds."""
    correct = np.zeros((len(Cs), len(rounds)), dtype=np.int64)
    for train, held_out in folds:
        part = data.part(train, held_out)
        for i, C in enumerate(Cs):
            agree = (fit(part, C).scores(part.X_test) > 0) == (part.y_test > 0)[:, np.newaxis]
            correct[i] += agree.sum(axis=0)
    return Search(Cs, rounds, correct)
