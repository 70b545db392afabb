"""What the atlas consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.experiments.atlas.sets import ALL_SETS
from kernsemble.experiments.registry import Paper

paper = Paper(
    "atlas",
    title="All methods of the five papers under one protocol",
    datasets={label: label for label in ALL_SETS},
    only={"image_block": ["mnist"]},
)
# Among columns of nearly the same score, last digits decide which one comes next.
COLUMN_GENERATION = (
    "LPBoost", "CGENS-Stump", "CGENS-Fourier", "CG-Boost-l1", "CG-Boost-l2", "MultiBoost-cw",
)  # fmt: skip

paper.exhibit(
    "limit",
    "CGENS with stumps on its way to the machine over all stumps",
    metrics=("excess", "disagreement", "error"),
    tolerance={"excess": 1e-4},
    parting=("CGENS-Stump",),
)
paper.exhibit(
    "masters",
    "Two masters, two oracles",
    metrics=("objective", "gap", "columns", "error"),
    tolerance={"gap": 1e-2, "objective": 1e-3},
    parting=("columns", "error"),
)
paper.exhibit(
    "diversity",
    "Ten members: by exclusivity, by column generation, by chance",
    metrics=("disagreement", "member_error", "error"),
    parting=("CGENS", "LPBoost"),
)
paper.exhibit(
    "arena",
    "All methods on all sets",
    metrics=("error", "chosen", "size", "kilobytes"),
    timing=("fit_seconds", "tuning_seconds", "predict_seconds"),
    # A model's pickle holds numbers as text in some libraries.
    tolerance={"kilobytes": 1.0},
    parting=COLUMN_GENERATION,
)
