"""Parameters that several trials of shen2014 share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """Cross-validation: how many folds, and among which numbers of rounds."""

    n_folds: int
    rounds: list[int]


@dataclass(frozen=True)
class Perceptrons:
    """What a round may choose from: one pool or fresh ones, their size, and how thresholds are drawn."""

    pool: str
    pool_size: int
    thresholds: str


@dataclass(frozen=True)
class Cosines:
    """Size of a pool of cosines, and the values of C that go with it."""

    pool_size: int
    log2_C_cosines: list[int]  # noqa: N815 - its name in params.yaml


@dataclass(frozen=True)
class Widths:
    """Search for the width of the Gaussian kernel: grids, and which of equal grid points wins."""

    log2_C_gauss: list[int]  # noqa: N815 - its name in params.yaml
    log2_gamma: list[int]
    width_ties: str


@dataclass(frozen=True)
class Classes:
    """Rounds at which ensembles of several classes are read, and how their C is searched."""

    checkpoints: list[int]
    n_folds: int
    vision_search: dict[str, int]


@dataclass(frozen=True)
class Clocked:
    """Rounds at which seconds are read, when a run stops, and C of each method."""

    time_checkpoints: list[int]
    time_limit: float
    log2_C_time: dict[str, int]  # noqa: N815 - its name in params.yaml
    tol: float
