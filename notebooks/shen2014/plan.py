"""What the reproduction of shen2014 consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.trials.registry import Paper
from shen2014.sets import STORED, VISION_SETS

paper = Paper(
    "shen2014",
    title="From Kernel Machines to Ensemble Learning",
    datasets=STORED,
    only={"vision_search": VISION_SETS},
)

# In the order in which they are computed.
paper.exhibit(
    "table1",
    "Test errors with decision stumps (table I), and at equal numbers of oracle calls",
    metrics=("error", "error_500", "C", "rounds", "size", "by_calls"),
)
paper.exhibit(
    "table2",
    "Test errors with Fourier cosines and with perceptrons (table II)",
    metrics=("error", "error_selected", "C", "gamma", "rounds", "size"),
)
paper.exhibit(
    "table4",
    "Spam with 60 stumps (table IV, figure 5)",
    metrics=("error", "C", "features"),
)
paper.exhibit(
    "figure1",
    "Training and test error in the plane (figure 1)",
    metrics=("test", "train", "C"),
    # Points in the plane: with stumps of two features alone, many scores are all but equal.
    parting=("CGENS",),
)
paper.exhibit(
    "table3",
    "Test errors with several classes (table III, figure 3)",
    metrics=("error", "curve", "C"),
    timing=("seconds_curve",),
)
paper.exhibit(
    "vowel",
    "Readings of vowel's row of table III",
    metrics=("error", "C"),
)
paper.exhibit(
    "figure4",
    "Pictures of scenes, classified rightly and wrongly (figure 4)",
    metrics=("error", "right", "wrong", "taken_for"),
)
paper.exhibit(
    "theorems",
    "Claims 4.1 and 4.2, on stumps that are all tried out",
    metrics=("identity", "negation", "rank", "objective"),
    tolerance={"identity": 1e-6, "negation": 1e-9},
)
paper.exhibit(
    "inverse",
    "The incremental inverse of the appendix",
    metrics=("difference", "same"),
    tolerance={"difference": 1e-6},
)
paper.exhibit(
    "dual",
    "Rounds under two rules for which dual solution to take",
    metrics=("curve", "same"),
    parting=("any solution",),  # which one is the point of it
)
paper.exhibit(
    "path",
    "From few stumps to all of them",
    metrics=("objective", "disagreement", "error", "C"),
    tolerance={"objective": 1e-5},
)
paper.exhibit(
    "multiple_kernels",
    "One width chosen by cross-validation, or all widths in one pool",
    metrics=("error", "problems", "share", "kernels"),
    timing=("search_seconds",),
)
paper.exhibit(
    "pools",
    "What a round may choose from",
    metrics=("AdaBoost", "LPBoost", "CGENS"),
)
paper.exhibit(
    "draws",
    "Twenty splits of our own, for error bars",
    metrics=("errors", "C", "rounds"),
)
paper.exhibit(
    "prediction",
    "Seconds to classify 10,000 points",
    metrics=("error", "size", "curve"),
    timing=("eval_seconds", "seconds_curve"),
    parting=("CGENS, 500 stumps", "CGENS, 500 cosines"),
    alone=True,
)
paper.exhibit(
    "figure2",
    "Training time against iterations, 10,000 digits (figure 2, top)",
    timing=("reached", "seconds_curve"),
    alone=True,
)
paper.exhibit(
    "figure2_examples",
    "Training time against examples, 100 iterations (figure 2, bottom)",
    timing=("reached", "seconds_curve", "largest_curve"),
    alone=True,
)
