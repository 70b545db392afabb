"""CGENS for data larger than memory: stumps from a file, columns at one bit an entry."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from kernsemble.estimators._base import TrainingData
from kernsemble.estimators._column_generation import ColumnGenerationClassifier
from kernsemble.estimators.cgens import _SHARE, _TOL
from kernsemble.growth.streamed_stumps import StreamedStumpOracle
from kernsemble.masters.base import Master
from kernsemble.masters.quadratic import PackedHinge


class StreamedCGEns(ColumnGenerationClassifier):
    """`CGEns` with stumps and the hinge loss, for many samples in a memory-mapped file.

    A round reads the data once to find the best stump. In memory it needs some 250 bytes a sample and one
    bit for each sample and stump, whatever the number of features.

    Parameters
    ----------
    n_rounds : int, default=500
        Largest number of rounds, and so of stumps.
    C : float, default=0.01
        Weight of the sum of losses.
    intercept : {"free", "penalized", "none"}, default="free"
        As in `CGEns`.
    tol : float or None, default=1e-2
        Relative duality gap; None runs ``n_rounds``. Each restricted problem is solved to half of it; the
        fit ends when the problem over all stumps meets it.
    directory : path, default=None
        Where codes of float data go, 2 bytes an entry, unless they are few; None is the directory for
        temporary files.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last fit, of the same data: more rounds are those of one long fit.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Draw a progress bar; 2 leaves it there.

    Attributes
    ----------
    gap_path_ : ndarray of shape ``(n_rounds_,)``
        Upper bound of the duality gap after each round (nan where it was not computed).
    dual_gap_ : float
        Upper bound of the duality gap at the end, as a rule less than 1 % above it.

    See Also
    --------
    CGEns : Rows in memory, several classes, sparse X and missing values.
    AdaBoost : With ``base=StreamedStumpOracle`` from the same files, without a certificate.
    kernsemble.growth.partitioned : Rows on many machines.

    Notes
    -----
    All else that a fit leaves is as of `CGEns`.

    ``CGEns(base=StreamedStumpOracle)`` reads the same files, and gives what `CGEns` gives in memory, bit for
    bit; its restricted problems take 64 bytes a sample for every 64 stumps. Here they take 8, and are solved
    to the same tolerance, though not by way of the same stumps.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble import StreamedCGEns
    >>> X = np.random.default_rng(0).integers(0, 256, (500, 4)).astype(np.uint8)
    >>> y = X[:, 0] > X[:, 1].astype(int) // 2
    >>> StreamedCGEns(C=0.1, n_rounds=60, tol=None).fit(X, y).score(X, y) > 0.9
    True
    """

    _binary_only = True
    base = StreamedStumpOracle
    base_options = None
    random_state = None

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        C: float = 0.01,
        intercept: str = "free",
        tol: float | None = 1e-2,
        directory: str | PathLike | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        self.n_rounds = n_rounds
        self.C = C
        self.intercept = intercept
        self.tol = tol
        self.directory = directory
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _base_options(self) -> Mapping[str, Any]:
        """Options of the oracle; an intercept makes the constant stump superfluous."""
        return {"constant": self.intercept == "none", "directory": self.directory, "bound": True}

    def _master(self, data: TrainingData) -> Master:
        weight = None if (data.weight == 1.0).all() else data.weight
        return PackedHinge(
            data.signs,
            self.C,
            sample_weight=weight,
            intercept=self.intercept,
            tol=_SHARE * (self.tol or _TOL),
        )
