"""What the atlas consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.trials.registry import Paper
from atlas.sets import ALL_SETS

paper = Paper(
    "atlas",
    title="All methods of the five papers under one protocol",
    datasets={label: label for label in ALL_SETS},
    only={"image_block": ["mnist"]},
)

paper.exhibit(
    "limit",
    "CGENS with stumps on its way to the machine over all stumps",
    metrics=("excess", "disagreement", "error"),
    tolerance={"excess": 1e-4},
)
paper.exhibit(
    "masters",
    "Two masters, two oracles",
    metrics=("objective", "gap", "columns", "error"),
    tolerance={"gap": 1e-2, "objective": 1e-3},
)
paper.exhibit(
    "diversity",
    "Ten members: by exclusivity, by column generation, by chance",
    metrics=("disagreement", "member_error", "error"),
)
paper.exhibit(
    "arena",
    "All methods on all sets",
    metrics=("error", "chosen", "size", "kilobytes"),
    timing=("fit_seconds", "tuning_seconds", "predict_seconds"),
    # A model's pickle holds numbers as text in some libraries.
    tolerance={"kilobytes": 1.0},
)
