r"""The Diversity Regularized Machine of Yu, Li and Zhou (IJCAI 2011), the rival of guo2017.

T linear machines without intercept, in the space of a kernel, share one problem; ``q`` is the power of the
slack::

    min  sum_t [ -nu rho_t + sum_i p_i xi_ti^q ] + mu sum_{t<s} ||w_t + w_s||^2,   p_i = 1/n
    s.t. y_i <w_t, phi(x_i)> >= rho_t - xi_ti,  xi_ti >= 0,  ||w_t|| <= 1

and the ensemble is the mean of the w_t. Where all lengths are 1, ``||w_t + w_s||^2 = 2 + 2 cos(w_t, w_s)``:
the paper's convex relaxation of diversity as an angle. Sample weights replace each 1/n by the sample's share.

**One machine at a time.** With ``v`` the sum of the others, the dual weights a of one machine minimize

    1/2 ||r||^2 [+ n kappa / 2 ||a||^2 if q = 2],  r = sum_i a_i y_i phi(x_i) - 2 mu v,
    s.t.  sum_i a_i = nu,  a_i >= 0,  [a_i <= 1/n if q = 1],

then ``w_t = r / (2 kappa)`` with ``kappa = mu (T - 1) + l_t``, l_t the multiplier of the length. For q = 1
kappa does not matter to a, and l_t is explicit; for q = 2 it is found by bisection. With T = 1 and q = 1 this
is the nu-SVM without intercept.

**The optimum.** The penalty is ``mu [(T - 2) sum_t ||w_t||^2 + ||sum_t w_t||^2]``: for T >= 3 it is strictly
convex, so the w_t are unique and, by symmetry, all EQUAL. If q is 1, their direction is the plain nu-SVM's
for any mu and T. Diversity lives in the start and in stopping early.

**What is certified.** The least of ALL values is T times the least value of one machine with the penalty
``ridge ||w||^2``, ``ridge = 2 mu (T - 1)``. ANY dual weights that are feasible for it (v = 0) bound it::

    -L^2 / (4 ridge) if L < 2 ridge, else ridge - L      [- 1/4 sum_i a_i^2 / p_i, q = 2],      L = ||r||

Rounding hides some 1e-16 of ``(nu longest)^2`` in ``L^2 = a' K a``, longest being the length of the longest
sample. The bound adds ``(SHORTEST nu longest)^2``, some fifty times as much; a machine of q = 1 is 0 where
``||r||`` is below ``SHORTEST longest``, as its direction would be noise.

**Stop.** When a round lowers the objective by no more than ``tol`` relatively and the relative gap is no
larger than the root of ``tol``. With a larger gap the quadratic programs are solved a hundred times more
precisely, until there is nothing left to sharpen (``converged`` is then False). A round that raises the
objective by more than ``tol`` is undone.

Named choices, as only accounts of the 2011 paper were at hand: q = 1 is the slack of LIBSVM's nu-SVM, which
guo2017 names as the base; by those accounts the 2011 paper squares it, q = 2. Each machine starts from the
nu-SVM of a bootstrap sample. nu and mu have no printed values.

Paper symbol = code name: T = n_components, nu = nu, mu = mu, lambda_t = l_t, p = share.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from kernsemble.masters.exclusivity import ExclusivitySolution
from kernsemble.masters.kernel_rows import MatrixRows
from kernsemble.masters.smo import minimize

LARGEST = 1e150  # entry of a kernel matrix whose square is finite
PRECISION = 1e-9  # of the quadratic programs, in units of the largest squared length of a sample
FINEST = 5e-16  # precision at which nothing is left to sharpen
STEPS = 10_000_000  # most of a program
SHARPER_STEPS = 400_000  # most of a sharpened one, which rounding may keep from its end
SHORTEST = 1e-7  # length that rounding can hide, in units of the longest sample's
SLOW = "Increase max_iter or tol."
HIDDEN = "Margins this thin drown in the rounding of the kernel matrix: center and scale the features."


def solve_drm(
    K: np.ndarray,
    y: np.ndarray,
    n_components: int,
    *,
    nu: float = 0.5,
    mu: float = 0.1,
    q: int = 1,
    tol: float = 1e-6,
    max_iter: int = 500,
    rng: np.random.Generator | None = None,
    sample_weight: np.ndarray | None = None,
) -> ExclusivitySolution:
    """Train T diverse nu-SVMs by alternating optimization.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semi-definite kernel matrix; add a constant to it for a penalized intercept.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    n_components : int
        Number of machines T.
    nu : float, default=0.5
        Between 0 and 1: bounds the share of margin errors from above, that of support vectors from below.
    mu : float, default=0.1
        Weight of the similarity of pairs.
    q : {1, 2}, default=1
        Power of the slack.
    tol : float, default=1e-6
        Relative decrease of the objective in a round at which to stop. Its root is the largest relative gap
        that counts as converged.
    max_iter : int, default=500
        Most rounds.
    rng : Generator, default=None
        Draws the bootstrap samples of the start; None starts all machines from the whole sample.
    sample_weight : ndarray of shape (n,), default=None
        Positive weights of the samples' losses, of which their shares matter; None means ones.

    Returns
    -------
    ExclusivitySolution
        ``w`` (n, T) are coefficients over the kernel's columns, ``gap`` the distance from a bound of all
        values, ``u`` (n,) the dual weights that prove the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.drm import solve_drm
    >>> X, y = np.array([[-2.0], [-1.0], [1.0]]), np.array([-1.0, -1.0, 1.0])
    >>> np.sign(X @ X.T @ solve_drm(X @ X.T, y, 1).w[:, 0])
    array([-1., -1.,  1.])
    """
    K = np.ascontiguousarray(K, dtype=np.float64)
    if not (largest := float(np.abs(K).max())) <= LARGEST:
        raise ValueError(f"K has entries up to {largest:.3g}: scale the features, then fit again.")
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    share = weight / weight.sum()
    machines = _Machines(K, y, n_components, nu, mu, q, share)
    machines.start(rng)
    path, lower, dual = _alternate(machines, tol, max_iter)
    decrease, gap, unit = path[-2] - path[-1], path[-1] - lower, max(1.0, abs(path[-1]))
    settled = decrease <= tol * unit
    return ExclusivitySolution(
        w=machines.coefficients,
        b=np.zeros(n_components),
        u=dual,
        objective=path[-1],
        gap=gap,
        n_iter=len(path) - 1,
        converged=bool(settled and gap <= np.sqrt(tol) * unit),
        message=f"The last round lowered the objective by {decrease:.3g}. " + (HIDDEN if settled else SLOW),
        objective_path=np.array(path),
    )


def _alternate(machines: _Machines, tol: float, max_iter: int) -> tuple[list[float], float, np.ndarray]:
    """Advance to the end; return the objective after each round, the best lower bound and its weights."""
    path, bound = [machines.objective()], (-np.inf, machines.alpha[:, 0])
    while len(path) <= max_iter:
        before = machines.coefficients.copy(), machines.alpha.copy()
        machines.advance()
        path.append(machines.objective())
        unit = max(1.0, abs(path[-1]))
        if path[-2] - path[-1] > tol * unit:
            continue
        if path[-1] - path[-2] > tol * unit:
            machines.coefficients, machines.alpha = before
            path[-1] = path[-2]
        bound = max(bound, machines.lower_bound(), key=itemgetter(0))
        if path[-1] - bound[0] <= np.sqrt(tol) * unit or not machines.sharpen():
            return path, *bound
    return path, *max(bound, machines.lower_bound(), key=itemgetter(0))


class _Machines:
    """Coefficients (n, T) of the machines over the kernel's columns, and their dual weights."""

    def __init__(self, K, y, T, nu, mu, q, share):
        self.K, self.y, self.T, self.nu, self.mu, self.q, self.share = K, y, T, nu, mu, q, share
        self.Q = K * np.outer(y, y)
        self.scale = np.sqrt(max(K.diagonal().max(), 1e-300))  # length of the longest sample
        self.alpha = np.tile(nu * share[:, np.newaxis], T)
        self.coefficients = np.zeros((y.size, T))
        self.precision, self.steps = PRECISION, STEPS

    def sharpen(self) -> bool:
        """Make the quadratic programs a hundred times more precise; return whether that was possible."""
        self.precision, self.steps = 0.01 * self.precision, SHARPER_STEPS
        return self.precision > FINEST

    def start(self, rng: np.random.Generator | None) -> None:
        """nu-SVMs of bootstrap samples that hold both classes, each of unit length."""
        n = self.y.size
        for t in range(self.T):
            rows = np.arange(n)
            while rng is not None:
                rows = rng.integers(n, size=n)
                if np.ptp(self.y[rows]) > 0:
                    break
            share = self.share[rows] / self.share[rows].sum()
            sample = _Machines(self.K[np.ix_(rows, rows)], self.y[rows], 1, self.nu, 0.0, 1, share)
            sample.advance()
            np.add.at(self.coefficients[:, t], rows, sample.coefficients[:, 0])

    def advance(self) -> None:
        """One round: each machine in turn, the others fixed."""
        for t in range(self.T):
            others = self.coefficients.sum(axis=1) - self.coefficients[:, t]
            alpha, kappa = self.solve_one(others, self.alpha[:, t], self.mu * (self.T - 1))
            self.alpha[:, t] = alpha
            combined = self.y * alpha - 2.0 * self.mu * others
            self.coefficients[:, t] = 0.0 if self.vanishes(combined) else combined / (2.0 * kappa)

    def solve_one(self, others: np.ndarray, alpha: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
        """Dual weights of one machine and its kappa >= ridge, the least that keeps the length at most 1."""
        pull = 2.0 * self.mu * others
        if self.q == 1:
            alpha = self._minimize(others, alpha, 0.0)
            return alpha, max(ridge, 0.5 * self._length(self.y * alpha - pull), 1e-300)
        low, high = max(ridge, 1e-6 * self.scale), max(ridge, self.scale)
        alpha = self._minimize(others, alpha, low)
        if self._length(self.y * alpha - pull) <= 2.0 * low:
            return alpha, low
        while self._length(self.y * self._minimize(others, alpha, high) - pull) > 2.0 * high:
            high *= 2.0
        while high - low > 1e-10 * high:
            kappa = np.sqrt(low * high)
            alpha = self._minimize(others, alpha, kappa)
            low, high = (kappa, high) if self._length(self.y * alpha - pull) > 2.0 * kappa else (low, kappa)
        alpha = self._minimize(others, alpha, high)  # again, within precision: it may be longer than before
        return alpha, max(high, 0.5 * self._length(self.y * alpha - pull))

    def lower_bound(self) -> tuple[float, np.ndarray]:
        """Bound of all values from below, and the dual weights of one machine that prove it."""
        one = _Machines(self.K, self.y, 1, self.nu, self.mu, self.q, self.share)
        ridge = 2.0 * self.mu * (self.T - 1)
        one.precision, one.steps = self.precision, self.steps
        alpha, _ = one.solve_one(np.zeros(self.y.size), one.alpha[:, 0], ridge)
        length = np.hypot(self._length(self.y * alpha), SHORTEST * self.nu * self.scale)
        value = ridge - length if length >= 2.0 * ridge else -(length**2) / (4.0 * ridge)
        return self.T * float(value - (0.25 * alpha @ (alpha / self.share) if self.q == 2 else 0.0)), alpha

    def _minimize(self, others: np.ndarray, alpha: np.ndarray, kappa: float) -> np.ndarray:
        """Quadratic program over the dual weights, warm-started at alpha."""
        n = self.y.size
        Q, pull = self.Q, 2.0 * self.mu * self.y * (self.K @ others)
        upper = self.share
        if self.q == 2:
            Q, upper = Q + np.diag(kappa / self.share), np.full(n, np.inf)
        alpha, tol = alpha.copy(), self.precision * self.scale**2
        minimize(MatrixRows(Q), np.zeros(n), upper, alpha, Q @ alpha - pull, tol, self.steps)
        return alpha

    def vanishes(self, combined: np.ndarray) -> bool:
        """Whether these coefficients mean 0: the reduced hulls of the classes may meet.

        Those of q = 2 are as long as kappa makes them, short ones too.
        """
        return self.q == 1 and self._length(combined) <= SHORTEST * self.scale

    def _length(self, combined: np.ndarray) -> float:
        """Length of the vector with these coefficients."""
        return float(np.sqrt(max(0.0, combined @ self.K @ combined)))

    def objective(self) -> float:
        """Primal objective, each rho at its best."""
        products = self.coefficients.T @ self.K @ self.coefficients
        lengths = products.diagonal()
        # over pairs t < s, ||w_t + w_s||^2 sums to (T - 2) sum_t ||w_t||^2 + ||sum_t w_t||^2
        similarity = (self.T - 2) * lengths.sum() + products.sum()
        margins = self.y[:, np.newaxis] * (self.K @ self.coefficients)
        return float(self.mu * similarity + sum(self._loss(column) for column in margins.T))

    def _loss(self, margins: np.ndarray) -> float:
        """Minimum over rho of ``-nu rho + sum p (rho - margin)_+^q`` with shares p."""
        order = np.argsort(margins, kind="stable")
        margins, share = margins[order], self.share[order]
        below = np.cumsum(share)
        if self.q == 1:
            rho = margins[min(np.searchsorted(below, self.nu * (1.0 - 1e-9)), margins.size - 1)]
        else:
            candidates = (0.5 * self.nu + np.cumsum(share * margins)) / below
            rho = candidates[np.argmax(candidates <= np.append(margins[1:], np.inf))]
        return float(-self.nu * rho + share @ np.maximum(0.0, rho - margins) ** self.q)
