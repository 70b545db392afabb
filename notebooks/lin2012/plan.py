"""What the reproduction of lin2012 consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.trials.registry import Paper
from lin2012.sets import STORED

paper = Paper(
    "lin2012",
    title="Fast Training of Effective Multi-class Boosting Using Coordinate Descent Optimization",
    datasets=STORED,
)

_CURVES = {
    "metrics": ("error", "curve", "C", "rounds", "learners", "active", "per_learner"),
    "timing": ("seconds_curve", "solver_curve", "oracle_seconds", "finished"),
}
paper.exhibit("figure1", "Two UCI sets (figure 1), and a small one", **_CURVES)
paper.exhibit("figure2", "Three sets of digits (figure 2)", **_CURVES)
paper.exhibit("figure3", "CIFAR-10 by GIST features and by pixels (figure 3)", **_CURVES)
paper.exhibit("figure4", "Fifteen scenes (figure 4)", **_CURVES)
paper.exhibit("figure5", "Traffic signs (figure 5)", **_CURVES)
paper.exhibit(
    "figure6",
    "Solvers of the master problem inside column generation (figure 6)",
    metrics=("objective", "excess", "active", "rounds"),
    timing=(
        "seconds_curve",
        "solver_curve",
        "late_objective",
        "late_excess",
        "late_active",
        "late_rounds",
    ),
    tolerance={"excess": 1e-4},
)
paper.exhibit(
    "unlimited",
    "MultiBoost by L-BFGS-B without a limit, and by Newton steps",
    metrics=("error", "curve", "rounds", "objective"),
    timing=("seconds_curve",),
)
paper.exhibit(
    "theorems",
    "Duality with and without constraint (3c)",
    metrics=("duality", "excess_3c", "share_3c", "loss_3c"),
    tolerance={"duality": 1e-6, "excess_3c": 1e-3, "share_3c": 1e-2, "loss_3c": 1e-3},
)
paper.exhibit(
    "separated",
    "A stump that separates a class, and the step (13)",
    metrics=("error", "train_error", "perfect", "first", "frozen"),
)
paper.exhibit(
    "optimum",
    "Column generation to the end: CW and MultiBoost",
    metrics=("objective", "gap", "rounds", "learners", "active", "error"),
    timing=("fit_seconds",),
    tolerance={"gap": 1e-4},
)
paper.exhibit(
    "accuracy",
    "Seconds of all solvers against accuracy",
    timing=("reached", "seconds_curve"),
)
paper.exhibit(
    "picks",
    "Which coordinates to pick",
    metrics=("updates", "objective"),
    tolerance={"objective": 1e-6},
)
paper.exhibit(
    "pairs",
    "Shared or per class, stage-wise or totally corrective, two losses",
    metrics=("error", "curve", "learners"),
)
paper.exhibit(
    "stopping",
    "Early stopping by the duality gap",
    metrics=("error", "gap_rounds", "gap_errors", "last_gap"),
    tolerance={"last_gap": 1e-4},
)
paper.exhibit(
    "modern",
    "At an equal number of leaves",
    metrics=("error", "leaves"),
    timing=("fit_seconds",),
)
paper.exhibit("learning", "Test error against the size of the training set", metrics=("error", "sizes"))
paper.exhibit("trees", "Trees of depth 2 in place of stumps", metrics=("error", "curve"))
paper.exhibit("readings", "What other readings of the protocol change", metrics=("error", "curve"))
paper.exhibit(
    "codes",
    "What a round of AdaBoost.MO costs, by its code",
    metrics=("columns",),
    timing=("round_seconds",),
)
