"""Machines with the stump kernel as splines: what the distance-kernel machines do without a kernel matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsemble.estimators._base import refuse_huge
from kernsemble.hypotheses import knots as columns
from kernsemble.hypotheses.base import label
from kernsemble.hypotheses.directions import Directions, find_direction, price, scale_of_mean
from kernsemble.hypotheses.knots import Knots
from kernsemble.hypotheses.shapes import ShapeFunction, Shapes
from kernsemble.masters.kernel_hinge import pair_scores
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.splines import SplineProblem, SplineSolution, solve_splines

_SHARE = 0.5  # of the tolerance that a solver may use up; the rest is for thinner tables
_CHANGE, _TRIALS = 3.0, 6  # of scores by thinner tables, in units of the tolerance; how often half is tried
_LARGEST = 1e150  # value that a spline can be solved over


@dataclass
class CodedRows:
    """Rows as codes (n_features, n), with the knots that they stand for."""

    knots: Knots
    codes: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, most: int | None) -> CodedRows:
        """Codes of X (n, n_features), at most so many knots a column."""
        knots = Knots.of_columns(X, most)
        return cls(knots, knots.encode(X))

    def beside(self, column: np.ndarray, most: int | None) -> CodedRows:
        """These codes with those of one more column (n,)."""
        old, new = self.knots, CodedRows.of(column[:, None], most)
        knots = Knots(
            np.append(old.values, new.knots.values),
            np.append(old.edges, new.knots.edges),
            np.append(old.first, old.first[-1] + len(new.knots.values)),
            np.append(old.rounded, new.knots.rounded),
        )
        return CodedRows(knots, np.concatenate([self.codes, new.codes]))

    def problem(self, loss: BoxLoss, part: np.ndarray | None = None) -> SplineProblem:
        """The problem over all rows, or some."""
        codes = self.codes if part is None else columns.take_rows(self.codes, part)
        return SplineProblem(self.knots, codes, loss)

    def scores(self, solution: SplineSolution, rows: np.ndarray) -> np.ndarray:
        """Scores of some rows."""
        codes = columns.take_rows(self.codes, rows)
        return columns.gather(codes, self.knots.first, solution.w) + solution.b


class AdditiveModel:
    """Mixin of the estimators whose machines are kept as ``_shapes``, over features or ``_directions``."""

    _input_types = (np.float64, np.float32, np.uint8)  # codes are of any type; kernels convert theirs

    def _code(
        self, X: np.ndarray, n_directions: int | None, directions: Directions | None = None
    ) -> CodedRows:
        """Codes of the samples, or of their projections on so many directions, or on those given."""
        refuse_huge(X, _LARGEST)
        self._directions = directions
        if n_directions is not None and directions is None:
            self._directions = Directions.draw(X.shape[1], n_directions, self.random_state)
        return CodedRows.of(self._columns(X), self.max_knots)

    def _columns(self, X: np.ndarray) -> np.ndarray:
        """What the shapes are over: features, or projections."""
        return X if self._directions is None else self._directions.project(X)

    def _additive(self) -> Shapes:
        """The shapes over features."""
        check_is_fitted(self)
        if self._shapes is None or self._directions is not None:
            raise AttributeError(f"{label(self)} is an additive model with kernel='stump' only.")
        return self._shapes

    @property
    def shape_functions_(self) -> list[ShapeFunction]:
        """One function a feature; the model is their sum and ``intercept_``."""
        return self._additive().functions

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the total variation of the shape functions."""
        variation = self._additive().variation.sum(axis=1)
        return variation / (variation.sum() or 1.0)


@dataclass(frozen=True)
class GeneratedDirections:
    """Directions that were found one after the other.

    Attributes
    ----------
    directions : Directions
        All of them.
    objectives : ndarray of shape (n_directions,)
        Sum of the machines' objectives with each and those before.
    prices : ndarray of shape (n_directions,)
        By so much, at most, each could lower the sum.
    """

    directions: Directions
    objectives: np.ndarray
    prices: np.ndarray


def generate_directions(
    X: np.ndarray,
    losses: Sequence[tuple[BoxLoss, np.ndarray | None]],
    n_directions: int,
    most: int | None,
    tol: float,
    max_iter: int,
    random_state: Any,
) -> GeneratedDirections:
    """Find directions that lower the sum of the machines' objectives, see `hypotheses.directions`.

    Each machine is a loss, and the rows that it is over, or None for all. After each direction all machines
    are solved anew, from their last tables. It ends when the best direction found cannot lower the sum by
    more than a share of ``tol``.
    """
    refuse_huge(X, _LARGEST)
    rng, scale = check_random_state(random_state), scale_of_mean(X.shape[1], n_directions)
    rows = CodedRows.of(np.zeros((len(X), 1)), most)  # before the first direction: intercepts alone
    solutions = [solve_splines(rows.problem(*machine), tol=tol, max_iter=max_iter) for machine in losses]
    found, objectives, prices = [], [], []
    while len(found) < n_directions:
        V = np.zeros((len(X), len(losses)))
        for k, solution in enumerate(solutions):
            part = losses[k][1]
            V[slice(None) if part is None else part, k] = solution.u
        direction = scale * find_direction(X, V, rng)
        column = np.asarray(X @ direction, dtype=np.float64)
        worth = price(column, V)
        if found and worth <= tol * objectives[-1]:
            break
        found.append(direction)
        rows = rows.beside(column, most)
        fresh = np.zeros(len(rows.knots.values) - len(solutions[0].w))
        starts = [replace(solution, w=np.append(solution.w, fresh)) for solution in solutions]
        solutions = [
            solve_splines(rows.problem(*machine), start=start, tol=tol, max_iter=max_iter)
            for machine, start in zip(losses, starts, strict=True)
        ]
        prices.append(worth)
        objectives.append(sum(solution.objective for solution in solutions))
    return GeneratedDirections(Directions(np.array(found).T), np.array(objectives), np.array(prices))


def solve_machines(
    rows: CodedRows,
    losses: Sequence[tuple[BoxLoss, np.ndarray | None]],
    weight: np.ndarray,
    tol: float,
    max_iter: int,
    machines: Sequence[int] | None = None,
) -> tuple[list[SplineSolution], Shapes, np.ndarray]:
    """Solve all machines, and shorten their tables as far as the tolerance permits.

    Each machine is a loss, and the rows that it is over, or None for all. Return the solutions, the shapes,
    which have mean zero over the weighted rows, and the intercepts.
    """
    order = range(len(losses)) if machines is None else machines
    solutions = [solve_splines(rows.problem(*losses[k]), tol=_SHARE * tol, max_iter=max_iter) for k in order]
    knots = rows.knots
    share = columns.histogram(rows.codes, knots.first, weight / weight.sum())
    tables = np.array([solution.w for solution in solutions]).T
    means = np.add.reduceat(share[:, None] * tables, knots.first[:-1])
    tables = tables - np.repeat(means, np.diff(knots.first), axis=0)
    intercepts = np.array([solution.b for solution in solutions]) + means.sum(axis=0)
    dtype = np.float64 if len(losses) == 1 else np.float32  # many tables are kept in half the room
    found = zip(losses, np.ascontiguousarray(tables.T)[:, :, None], intercepts, solutions, strict=True)
    judged, shapes = zip(*(_thin(rows, *each, tol, dtype) for each in found), strict=True)
    return list(judged), Shapes.join(list(shapes)), intercepts


def _thin(
    rows: CodedRows,
    machine: tuple[BoxLoss, np.ndarray | None],
    table: np.ndarray,
    intercept: float,
    solution: SplineSolution,
    tol: float,
    dtype: type,
) -> tuple[SplineSolution, Shapes]:
    """Shorten a machine's table (n_knots, 1) as far as its gap permits; return what the solution becomes.

    ``dtype`` is that of the shorter table.
    """
    knots, whole = rows.knots, Shapes(rows.knots.values, rows.knots.first, table)
    problem, change = rows.problem(*machine), _CHANGE * tol / np.sqrt(rows.knots.n_features)
    change *= float(np.std(machine[0].target)) or 1.0
    for _ in range(_TRIALS):
        thinner = whole.thin(change)
        thinner = replace(thinner, tables=thinner.tables.astype(dtype))
        g = thinner.at(knots.values, knots.first)[:, 0]
        objective = problem.objective(g, intercept)
        gap = objective - solution.dual_objective
        if not solution.converged or gap <= tol * objective or objective <= solution.objective:
            return replace(solution, w=g, b=intercept, objective=objective, gap=gap), thinner
        change *= 0.5
    return solution, whole


def count_held_out(
    rows: CodedRows,
    signs: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    make_loss: Callable[[np.ndarray, np.ndarray], BoxLoss],
    Cs: np.ndarray,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    tol: float,
    max_iter: int,
    one_vs_one: bool,
) -> tuple[np.ndarray, list[SplineSolution]]:
    """Weight of the held-out rows that are classified correctly, for each C, and what did not converge.

    ``signs`` has a machine a row, 0 for rows that take no part. Each machine follows the path of C, from one
    solution to the next.
    """
    counts, unsolved = np.zeros(len(Cs)), []
    for train, test in folds:
        decisions = np.empty((len(Cs), len(test), len(signs)))
        for k, y in enumerate(signs):
            part = train[y[train] != 0.0]
            present, solution = np.unique(y[part]), None
            if len(present) < 2:
                decisions[:, :, k] = present[0] if len(present) else 0.0
                continue
            problem = rows.problem(make_loss(y[part], weight[part]), part)
            for c, C in enumerate(Cs):
                problem = SplineProblem(rows.knots, problem.codes, make_loss(y[part], C * weight[part]))
                solution = solve_splines(problem, start=solution, tol=tol, max_iter=max_iter)
                decisions[c, :, k] = rows.scores(solution, test)
                if not solution.converged:
                    unsolved.append(solution)
        for c, decision in enumerate(decisions):
            counts[c] += weight[test][_classes(decision, labels, one_vs_one) == labels[test]].sum()
    return counts, unsolved


def _classes(decision: np.ndarray, labels: np.ndarray, one_vs_one: bool) -> np.ndarray:
    """Classes that the machines' decisions (n, n_machines) say; 0 counts as the first of two."""
    n_classes = int(labels.max()) + 1
    if n_classes == 2:
        return (decision[:, 0] > 0.0).astype(np.intp)
    scores = pair_scores(decision, n_classes) if one_vs_one else decision
    return scores.argmax(axis=1)
