r"""Bayesian signed-rank test: with what probability is one method better than another on the next dataset?

With differences z_1 .. z_n over datasets and a pseudo-difference z_0 = 0 of weight s, a Dirichlet process has
the posterior weights w ~ Dir(s, 1, .., 1), and the shares of pairs::

    theta_better = sum_ij w_i w_j [z_i + z_j < -2 r],  theta_worse = sum_ij w_i w_j [z_i + z_j > 2 r],

the rest are practically equal, r being the half-width of the region of practical equivalence (rope). The
probability of each outcome is the share of draws of w in which its theta is the largest.

Benavoli, Corani, Demsar and Zaffalon, Time for a change: a tutorial for comparing multiple classifiers
through Bayesian analysis, JMLR 18, 2017, section 4.2.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_DRAWS = 20_000


class Outcome(NamedTuple):
    """Probabilities that the first method is better, practically equal, or worse; they sum to one."""

    better: float
    equal: float
    worse: float


def signed_rank(differences: np.ndarray, rope: float, *, prior: float = 0.5, seed: int = 0) -> Outcome:
    """Return the probabilities for errors of the first method minus those of the second.

    Parameters
    ----------
    differences : ndarray of shape (n_datasets,)
        One a dataset, negative where the first method errs less.
    rope : float
        Differences between -rope and rope count as none.
    prior : float, default=0.5
        Weight of the pseudo-difference 0.
    seed : int, default=0
        Draws the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from atlas.bayes import signed_rank
    >>> signed_rank(np.array([-3.0, -2.0, -4.0, -2.5, -3.5, -5.0]), rope=1.0).better > 0.95
    True
    """
    z = np.append(0.0, differences)
    sums = z[:, np.newaxis] + z
    weights = np.random.default_rng(seed).dirichlet([prior, *np.ones(len(differences))], _DRAWS)
    # One pass over the draws for each region: w' M w.
    better, worse = (
        np.einsum("ti,ti->t", weights @ region.astype(np.float64), weights)
        for region in (sums < -2.0 * rope, sums > 2.0 * rope)
    )
    theta = np.column_stack([better, 1.0 - better - worse, worse])
    counts = np.bincount(theta.argmax(axis=1), minlength=3)
    return Outcome(*(counts / _DRAWS).tolist())
