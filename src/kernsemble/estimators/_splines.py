"""Machines with the stump kernel as splines: what the distance-kernel machines do without a kernel matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsemble.estimators._base import refuse_huge
from kernsemble.hypotheses import knots as columns
from kernsemble.hypotheses.base import label
from kernsemble.hypotheses.knots import Knots
from kernsemble.hypotheses.shapes import ShapeFunction, Shapes
from kernsemble.masters.kernel_hinge import pair_scores
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.splines import SplineProblem, SplineSolution, solve_splines

_SHARE = 0.5  # of the tolerance that a solver may use up; the rest is for thinner tables
_CHANGE, _TRIALS = (
    3.0,
    6,
)  # of scores by thinner tables, in units of the tolerance; how often 1/4 of it is tried
_REPULSIONS, _REPULSION_WORK = 100, 2_000_000_000  # most steps of lines that repel each other, and products
_LARGEST = 1e150  # value that a spline can be solved over
_SOFT = 1e-4  # keeps the forces between lines finite


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

    def problem(self, loss: BoxLoss, part: np.ndarray | None = None) -> SplineProblem:
        """The problem over all rows, or some."""
        codes = self.codes if part is None else columns.take_rows(self.codes, part)
        return SplineProblem(self.knots, codes, loss)

    def scores(self, solution: SplineSolution, rows: np.ndarray) -> np.ndarray:
        """Scores of some rows."""
        codes = columns.take_rows(self.codes, rows)
        return columns.gather(codes, self.knots.first, solution.w) + solution.b


@dataclass(frozen=True)
class Directions:
    """Directions (n_features, n_directions), times what makes the mean of distances along them ``||x||_2``.

    For xi uniform on the sphere ``E|<xi, x>| = ||x||_2 Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2))``, the constant
    of `kernels.perceptron_constants`.
    """

    matrix: np.ndarray

    @classmethod
    def draw(cls, n_features: int, n_directions: int, random_state: Any) -> Directions:
        """Directions of low discrepancy: a half circle in equal parts, or lines that repelled each other.

        Lines of least energy leave 1/2 to 1/30 of the error of random ones, the less the more there are per
        feature.
        """
        rng = check_random_state(random_state)
        if n_features == 1:
            return cls(np.ones((1, 1)))
        if n_features == 2:
            angle = np.pi * (np.arange(n_directions) + rng.uniform()) / n_directions
            directions = np.array([np.cos(angle), np.sin(angle)])
        else:
            directions = _repelled(_orthogonal(n_features, n_directions, rng))
        log_constant = gammaln(0.5 * n_features + 0.5) - gammaln(0.5 * n_features)
        return cls(directions * (np.sqrt(np.pi) * np.exp(log_constant) / n_directions))

    def project(self, X: np.ndarray) -> np.ndarray:
        """Projections (n, n_directions)."""
        return np.asarray(X, dtype=np.float64) @ self.matrix


class AdditiveModel:
    """Mixin of the estimators whose machines are kept as ``_shapes``, over features or ``_directions``."""

    _input_types = (np.float64, np.float32, np.uint8)  # codes are of any type; kernels convert theirs

    def _code(self, X: np.ndarray, n_directions: int | None) -> CodedRows:
        """Codes of the samples, or of their projections."""
        refuse_huge(X, _LARGEST)
        self._directions = None
        if n_directions is not None:
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


def _orthogonal(n_features: int, n_directions: int, rng: np.random.RandomState) -> np.ndarray:
    """Random orthogonal bases side by side, (n_features, n_directions)."""
    n_bases = -(-n_directions // n_features)
    bases = [np.linalg.qr(rng.normal(size=(n_features, n_features)))[0] for _ in range(n_bases)]
    return np.concatenate(bases, axis=1)[:, :n_directions]


def _repelled(directions: np.ndarray) -> np.ndarray:
    """Lines after some steps down the sum over pairs of 1 / sin(angle between them)."""
    lines = directions.T.copy()
    for _ in range(int(min(_REPULSIONS, _REPULSION_WORK // (lines.size * len(lines))))):
        cosine = lines @ lines.T
        np.fill_diagonal(cosine, 0.0)
        force = cosine / (1.0 + _SOFT - cosine**2) ** 1.5
        push = force @ lines
        push -= lines * np.sum(lines * push, axis=1, keepdims=True)
        lines -= 0.5 * push / np.maximum(np.abs(force).sum(axis=1).mean(), np.finfo(float).tiny)
        lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    return lines.T


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
    whole = Shapes(knots.values, knots.first, tables)
    change = _CHANGE * tol / np.sqrt(knots.n_features)
    for _ in range(_TRIALS):
        scale = min(float(np.std(loss.target)) or 1.0 for loss, _ in losses)
        thinner = whole.thin(change * scale)
        judged = _judge(rows, losses, thinner.at(knots.values, knots.first), intercepts, solutions, tol)
        if judged is not None:
            return judged, thinner, intercepts
        change *= 0.5
    return solutions, whole, intercepts


def _judge(
    rows: CodedRows,
    losses: Sequence[tuple[BoxLoss, np.ndarray | None]],
    tables: np.ndarray,
    intercepts: np.ndarray,
    solutions: list[SplineSolution],
    tol: float,
) -> list[SplineSolution] | None:
    """The solutions with other tables, their objectives and gaps; None if a gap that was small is not."""
    judged = []
    for k, (loss, part) in enumerate(losses):
        problem, g, solution = rows.problem(loss, part), np.ascontiguousarray(tables[:, k]), solutions[k]
        objective = problem.objective(g, float(intercepts[k]))
        gap = objective - solution.dual_objective
        if solution.converged and gap > tol * objective and objective > solution.objective:
            return None
        judged.append(replace(solution, w=g, b=float(intercepts[k]), objective=objective, gap=gap))
    return judged


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
