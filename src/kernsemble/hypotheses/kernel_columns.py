r"""Kernel columns as hypotheses: ``h(x) = K_p(x, x_j)`` for each kernel p of a library and each sample j.

Pricing (bi2004, (10), (12), (14)): given signed weights V, find the column that maximizes ``V'K_j``
(weights bounded below by 0) or ``|V'K_j|`` (weights free) among those that are not in the model yet, N.

Stratified search (Algorithm 5.1, steps 5 to 8). Kernels stand in the order of their priority.

1. For each kernel in turn, price the columns centered at error points, E; if the best violates the dual,
   take it.
2. If no kernel had one (rule TR1 stops here): for each kernel in turn, price all of N; the first violation
   is taken.
3. If none, the master problem is solved (TR2).

Under an l2 norm that threshold is 0, and every column has a score, those in the span of the chosen ones too:
the first kernel is taken to its last column before the second is looked at. So ``stratified="levels"`` runs
the steps at a falling threshold. A kernel is passed over while its scores, divided by ``|V|`` and the
kernel's typical ``|K_j|``, stay below the level; where none reaches it, the level falls to half of the
largest, and the first kernel that reaches that is taken: cheap kernels first, among those of like use.

E is where xi_i > 0, and there ``|V_i|`` is at its bound (complementarity (17)). A violation is a score above
``tau``. The regular search prices all of N for all kernels and takes the best.

Columns are evaluated in blocks and kept while a memory budget lasts; matrices of n x n entries are never
needed.

bi2004 symbols: K = library, E = error points, tau = ``tau``, l = n_samples, P = len(kernels).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import norm

from kernsemble.hypotheses.base import Candidate, Oracle
from kernsemble.hypotheses.kernel_library import Kernel, as_kernel

_EQUAL = 1e-9  # relative difference of scores that does not count
_LEVEL = 0.5  # share of the largest relative score to which the level falls
_SAMPLE = 100  # columns that tell a kernel's typical length
_AT_BOUND = 1e-6  # relative distance from the bound at which |V_i| counts as being there

Key = tuple[int, int]  # kernel, training sample at the center


class Search(NamedTuple):
    """What one search did.

    Attributes
    ----------
    n_scanned : int
        Columns priced, a composite kernel's counted once for each of its parts.
    n_errors : int
        Size of E.
    full : bool
        Whether all of N was looked at: no column centered at an error point violated the dual.
    """

    n_scanned: int
    n_errors: int
    full: bool


class KernelExpansion:
    """A list of J kernel columns, evaluated kernel by kernel on any data.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved kernels.
    centers : sequence of ndarray of shape (m_p, n_features)
        Centers of each kernel.
    positions : sequence of ndarray of shape (m_p,), int
        Where each column stands in the list.
    """

    def __init__(
        self, kernels: Sequence[Kernel], centers: Sequence[np.ndarray], positions: Sequence[np.ndarray]
    ) -> None:
        self.kernels, self.centers, self.positions = tuple(kernels), tuple(centers), tuple(positions)

    def __len__(self) -> int:
        """Return the number of columns J."""
        return sum(map(len, self.positions))

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """H of shape (n, J)."""
        X = np.asarray(X, dtype=np.float64)
        H = np.empty((len(X), len(self)))
        for kernel, Z, position in zip(self.kernels, self.centers, self.positions, strict=True):
            if len(position):
                H[:, position] = kernel.matrix(X, Z)
        return H

    def decision(self, X: np.ndarray, W: np.ndarray, b: float | np.ndarray = 0.0) -> np.ndarray:
        """``outputs(X) @ W + b``; columns of weight zero cost nothing, linear columns are one product."""
        X, W = np.asarray(X, dtype=np.float64), np.asarray(W, dtype=np.float64)
        total = np.zeros((len(X), *W.shape[1:]))
        for kernel, Z, position in zip(self.kernels, self.centers, self.positions, strict=True):
            used = _nonzero(W[position])
            if used.any():
                total += kernel.decision(X, Z[used], W[position][used])
        return total + b

    def parts(self, X: np.ndarray, w: np.ndarray) -> dict[str, np.ndarray]:
        """What each kernel's columns add to ``outputs(X) @ w``, by the kernel's name."""
        return {
            name: kernel.decision(X, Z, w[position])
            for (name, position), kernel, Z in zip(self._named(), self.kernels, self.centers, strict=True)
        }

    def counts(self, W: np.ndarray) -> dict[str, int]:
        """Number of columns with a weight, by the kernel's name."""
        return {name: int(_nonzero(W[position]).sum()) for name, position in self._named()}

    def n_evaluations(self, W: np.ndarray) -> int:
        """Kernel values that one prediction computes."""
        return sum(
            kernel.n_evaluations(int(_nonzero(W[position]).sum()))
            for kernel, position in zip(self.kernels, self.positions, strict=True)
        )

    def _named(self) -> list[tuple[str, np.ndarray]]:
        """Names, numbered where two kernels share one, with their positions."""
        names = kernel_names(self.kernels)
        return list(zip(names, self.positions, strict=True))


class KernelColumns(Oracle):
    """Oracle over the columns of a library of kernels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    kernels : sequence of Kernel, str or callable
        The library, simplest (highest priority) first; see `as_kernel`.
    signed : bool, default=False
        Whether only positive scores count (weights bounded below by 0).
    stratified : bool or "levels", default=True
        Algorithm 5.1, as printed or at a falling threshold, instead of a full scan each time.
    full_scan : bool, default=True
        Whether the stratified search goes on to N when E has no violation; False is rule TR1.
    tau : float, default=0.0
        Score above which a column violates the dual: 1 for l1 masters, 0 for l2 masters, plus a tolerance.
    bound : float or ndarray of shape (n_samples,), default=inf
        Largest |V_i|: the samples that reach it are E. Infinite: E is empty.
    centers : ndarray of int, optional
        Samples that may be centers; all by default.
    cache_bytes : int, default=2**28
        Memory for columns that were evaluated once.

    Attributes
    ----------
    searches : list of Search
        What each search did, the one for the first column first.

    Examples
    --------
    >>> import numpy as np
    >>> oracle = KernelColumns(np.array([[0.0], [1.0], [3.0]]), ["linear", "rbf"])
    >>> found = oracle.best(np.array([0.0, -1.0, 1.0]))[0]
    >>> found.key, found.score
    ((0, 2), 6.0)
    """

    negation_complete, ends_early = False, True

    def __init__(
        self,
        X: np.ndarray,
        kernels: Sequence[Kernel | str],
        *,
        signed: bool = False,
        stratified: bool | str = True,
        full_scan: bool = True,
        tau: float = 0.0,
        bound: float | np.ndarray = np.inf,
        centers: np.ndarray | None = None,
        cache_bytes: int = 2**28,
    ) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        n = len(self.X)
        self.kernels = tuple(as_kernel(kernel).resolve(self.X) for kernel in kernels)
        if not self.kernels:
            raise ValueError("kernels is empty; give at least one, such as ['linear', 'rbf'].")
        self.signed, self.stratified, self.full_scan, self.tau = signed, stratified, full_scan, tau
        self.bound = np.broadcast_to(np.asarray(bound, dtype=np.float64), (n,))
        self.centers = np.arange(n) if centers is None else np.unique(np.asarray(centers, dtype=np.intp))
        self._is_center = np.zeros(n, dtype=bool)
        self._is_center[self.centers] = True
        self._free = np.tile(self._is_center, (len(self.kernels), 1))  # N, one row a kernel
        self._stores = [
            _ColumnStore(kernel, self.X, cache_bytes // len(self.kernels)) for kernel in self.kernels
        ]
        self.searches: list[Search] = []
        self._n_scanned = 0
        self._level = np.inf
        self._lengths = self._typical_lengths() if stratified == "levels" else np.ones(len(self.kernels))

    def __len__(self) -> int:
        """Return the number of columns, in the model or not."""
        return len(self.kernels) * len(self.centers)

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return the column that the search finds, or an empty list where nothing violates the dual."""
        V = np.ascontiguousarray(V, dtype=np.float64).ravel()
        self._n_scanned = 0
        errors = (np.abs(V) >= (1.0 - _AT_BOUND) * self.bound) & (self.bound > 0.0)
        if self.stratified == "levels":
            key, full = self._by_levels(V, errors)
        elif self.stratified:
            key, full = self._stratified(V, errors)
        else:
            key, full = self._scan(V, range(len(self.kernels))), True
        self.searches.append(Search(self._n_scanned, int(errors.sum()), full))
        if key is None:
            return []
        column = self._stores[key[0]].column(key[1])
        return [Candidate(key, float(V @ column), column)]

    def exclude(self, key: Key) -> None:
        """Leave the column with this key out of later searches."""
        self._free[key] = False

    def collect(self, keys: Sequence[Key]) -> KernelExpansion:
        """Return the columns with these keys, in this order."""
        kernel = np.array([key[0] for key in keys], dtype=np.intp)
        center = np.array([key[1] for key in keys], dtype=np.intp)
        positions = [np.flatnonzero(kernel == p) for p in range(len(self.kernels))]
        return KernelExpansion(self.kernels, [self.X[center[at]] for at in positions], positions)

    def sum_of_squares(self, v: np.ndarray) -> float:
        """Sum of squared scores over N, positive ones if ``signed``: twice an l2 master's duality gap."""
        return float(sum(np.square(scores).sum() for scores in self._violations(v)))

    def largest_score(self, v: np.ndarray) -> float:
        """Largest violation over N; divided by it (if above 1), an l1 dual is feasible."""
        return float(max((scores.max(initial=0.0) for scores in self._violations(v)), default=0.0))

    def _violations(self, v: np.ndarray):
        """Yield, for each kernel, what its columns in N score, as the search ranks them."""
        for p, free in enumerate(self._free):
            yield np.maximum(self._rank(self._stores[p].scores(v, np.flatnonzero(free))), 0.0)

    def _stratified(self, V: np.ndarray, errors: np.ndarray) -> tuple[Key | None, bool]:
        """Steps 5 to 8 of Algorithm 5.1: the key found, and whether it took more than the error points."""
        for full in (False, True) if self.full_scan else (False,):
            for p in range(len(self.kernels)):
                key = self._scan(V, [p], None if full else errors)
                if key is not None:
                    return key, full
        return None, self.full_scan

    def _by_levels(self, V: np.ndarray, errors: np.ndarray) -> tuple[Key | None, bool]:
        """The same steps at the level; where no kernel reaches it, it falls to half of the largest score."""
        unit = np.linalg.norm(V) * self._lengths
        for scope in (errors, None) if self.full_scan else (errors,):
            best = []
            for p in range(len(self.kernels)):
                score, key = self._best(V, p, scope)
                if score > max(self.tau, self._level * unit[p]):
                    return key, scope is None
                best.append((score / unit[p] if score > self.tau else 0.0, key))
            if (largest := max(score for score, _ in best)) > 0.0:
                self._level = _LEVEL * largest
                return next(key for score, key in best if score >= self._level), scope is None
        return None, self.full_scan

    def _typical_lengths(self) -> np.ndarray:
        """Root mean square of ``|K_j|`` over some columns of each kernel."""
        some = self.X[self.centers[:: max(1, len(self.centers) // _SAMPLE)]]
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused elsewhere
            columns = (kernel.matrix(self.X, some) for kernel in self.kernels)
            return np.array(
                [norm(K.ravel(), check_finite=False) / np.sqrt(len(some)) or 1.0 for K in columns]
            )

    def _scan(self, V: np.ndarray, kernels: Sequence[int], scope: np.ndarray | None = None) -> Key | None:
        """Return the first best column of N within scope over some kernels, if it violates the dual."""
        best, key = self.tau, None
        for p in kernels:
            score, column = self._best(V, p, scope)
            if score > best:
                best, key = score * (1.0 + _EQUAL), column
        return key

    def _best(self, V: np.ndarray, p: int, scope: np.ndarray | None) -> tuple[float, Key | None]:
        """Largest score of a kernel's columns of N within scope, and the first column that has it."""
        columns = np.flatnonzero(self._free[p] if scope is None else self._free[p] & scope)
        self._n_scanned += len(columns) * len(self.kernels[p].parts)
        if not len(columns):
            return -np.inf, None
        ranks = self._rank(self._stores[p].scores(V, columns))
        largest = float(ranks.max())
        # Scores equal up to rounding are ties: the first wins, in whatever order they were summed.
        top = np.flatnonzero(ranks >= largest - _EQUAL * abs(largest))[0]
        return largest, (p, int(columns[top]))

    def _rank(self, scores: np.ndarray) -> np.ndarray:
        """What the search maximizes: the score, or its size where weights are free."""
        return scores if self.signed else np.abs(scores)


class _ColumnStore:
    """Columns of one kernel on the training set, kept while there is room."""

    def __init__(self, kernel: Kernel, X: np.ndarray, room: int) -> None:
        self.kernel, self.X = kernel, X
        n = len(X)
        fits_whole = 8 * n * n <= room
        # Structured kernels price without columns; they only profit when everything fits.
        self._capacity = 0 if kernel.structured and not fits_whole else min(n, room // (8 * max(1, n)))
        self._kept = np.empty((0, n))
        self._slot = np.full(n, -1, dtype=np.intp)
        self._n_kept = 0

    def column(self, j: int) -> np.ndarray:
        """Return column j, evaluated anew unless kept."""
        slot = self._slot[j]
        return self._kept[slot].copy() if slot >= 0 else self.kernel.matrix(self.X, self.X[j : j + 1])[:, 0]

    def scores(self, V: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """V'K_j for the columns asked for."""
        if not self._capacity:
            return self.kernel.scores(self.X, V, self.X[columns])
        self._keep(columns[self._slot[columns] < 0])
        slots = self._slot[columns]
        kept = slots >= 0
        scores = np.empty(len(columns))
        scores[kept] = (self._kept[: self._n_kept] @ V)[slots[kept]]
        if not kept.all():
            scores[~kept] = self.kernel.scores(self.X, V, self.X[columns[~kept]])
        return scores

    def _keep(self, missing: np.ndarray) -> None:
        """Evaluate and keep as many of the missing columns as there is room for."""
        missing = missing[: self._capacity - self._n_kept]
        if not len(missing):
            return
        end = self._n_kept + len(missing)
        if end > len(self._kept):
            grown = np.empty((min(self._capacity, max(end, 2 * len(self._kept))), len(self.X)))
            grown[: self._n_kept] = self._kept[: self._n_kept]
            self._kept = grown
        self._kept[self._n_kept : end] = self.kernel.matrix(self.X, self.X[missing]).T
        self._slot[missing] = np.arange(self._n_kept, end)
        self._n_kept = end


def kernel_names(kernels: Sequence[Kernel]) -> list[str]:
    """Names of kernels, numbered where two share one.

    Examples
    --------
    >>> kernel_names([as_kernel("rbf"), as_kernel("linear"), as_kernel("rbf")])
    ['rbf1', 'linear', 'rbf2']
    """
    names = [kernel.name for kernel in kernels]
    return [
        f"{name}{names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]


def _nonzero(W: np.ndarray) -> np.ndarray:
    """Which rows of weights are not all zero."""
    return W != 0.0 if W.ndim == 1 else np.any(W != 0.0, axis=1)
