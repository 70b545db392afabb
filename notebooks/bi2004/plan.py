"""What the reproduction of bi2004 consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.trials.registry import Paper
from bi2004.sets import (
    ALL_FOREST,
    CHOICES,
    KERNELS,
    SIZE_SETS,
    SMALL_CHOICES,
    STORED,
    TARGET,
    THRESHOLDS,
    WIDTHS_TARGET,
)

paper = Paper(
    "bi2004",
    title="Column-Generation Boosting Methods for Mixture of Kernels",
    datasets={
        **STORED,
        TARGET: None,
        WIDTHS_TARGET: None,
        **dict.fromkeys((*SIZE_SETS, ALL_FOREST), "covertype"),
    },
    only={"digits_task": ["Digits"]},
)

# Where a run of column generation is read: TR1, TR3, and its end.
STOPS = ("TR1", "TR3", "end")
AT_STOP = ("error", "train_error", "rounds", *KERNELS, "evaluations")
STOP_METRICS = tuple(f"{metric}_{stop}" for stop in STOPS for metric in AT_STOP)
STOP_TIMES = tuple(f"{name}_seconds_{stop}" for stop in STOPS for name in ("fit", "test"))
CURVES = ("curve_rounds", "curve_train", "curve_validation", "curve_test", "curve_objective")
# Gaps of rounding size are as good as none.
NO_GAP = {"gap": 1e-9}
RUN_METRICS = ("log10_C", "gap", "scanned", "first_full_scan", *STOP_METRICS, *CURVES)

paper.exhibit(
    "table1",
    "Datasets",
    metrics=("dim", "n_pts", "n_positive", "n_negative", "nearest_subset"),
)
paper.exhibit(
    "figure1",
    "A target that is linear + RBF: four models and two norms",
    metrics=("rmse", "train_rmse", "columns", "rbf_columns", "evaluations", "log10_C"),
    timing=("fit_seconds", "test_seconds"),
)
paper.exhibit(
    "table2",
    "Five-fold cross-validation on small datasets",
    metrics=(
        *("FP_tst", "FN_tst", "error", "C_l", "C_r", "evaluations", "log10_C", "gap"),
        *("FP_TR1", "FN_TR1", "C_l_TR1", "C_r_TR1", "FP_optimum", "FN_optimum"),
    ),
    timing=("T_trn", "T_tst"),
    tolerance={"gap": 1e-3},  # runs stop at a gap of one per cent
)
for number, label in ((3, "Forest"), (4, "digits")):
    paper.exhibit(
        f"table{number}",
        f"Training and test errors on 1000 examples: {label}",
        metrics=(*RUN_METRICS, "optimum_error", "optimum_train_error", "counts"),
        timing=STOP_TIMES,
        tolerance=NO_GAP,
    )
paper.exhibit(
    "figure3",
    "Column generation without stratification",
    metrics=RUN_METRICS,
    timing=STOP_TIMES,
    tolerance=NO_GAP,
)
paper.exhibit(
    "figure4",
    "Validation error during the iterations for several C",
    metrics=("curve_rounds", "curve_train", "curve_validation", "optimum_validation"),
)
paper.exhibit(
    "table5",
    "Iterations against the number of examples",
    metrics=("iterations", "first_full_scan", "error", "linear", "quadratic", "rbf", "evaluations"),
    timing=("fit_seconds", "test_seconds"),
)
paper.exhibit(
    "coarse",
    "Iterations against the number of examples, with a coarse tolerance on tau",
    metrics=(
        *("rounds", "first_full_scan", "iterations", "error"),
        *("linear", "quadratic", "rbf", "evaluations"),
    ),
)
paper.exhibit(
    "theorems",
    "Theorem 3.1 and proposition 4.1, measured",
    metrics=("identity", "optimum", "largest", "realized", "rounds"),
    tolerance={"identity": 1e-6, "optimum": 1e-6},
)
paper.exhibit(
    "formulations",
    "All formulations of the paper, solved to a certified gap",
    metrics=("gap", "judge", "columns", "score"),
    tolerance={"gap": 1e-3, "judge": 1e-3},
)
paper.exhibit(
    "offset", "Other offsets and losses", metrics=tuple(
        f"{rate}_{name}" for name in SMALL_CHOICES for rate in ("FP", "FN")
    )
)  # fmt: skip
paper.exhibit(
    "thresholds",
    "Other thresholds of the same machines",
    metrics=(*(f"{rate}_{rule}" for rule in THRESHOLDS for rate in ("FP", "FN")), "missed"),
)
paper.exhibit(
    "readings",
    "Other forms and scales of the kernels",
    metrics=(*(f"error_{name}" for name in CHOICES), "log10_C"),
)
paper.exhibit(
    "levels",
    "Errors and columns against how far the run went",
    metrics=("error", "columns", "rbf", "evaluations"),
    timing=("fit_seconds",),
)
paper.exhibit("tolerance", "What the tolerance on tau changes", metrics=STOP_METRICS, timing=STOP_TIMES)
paper.exhibit(
    "widths",
    "Several RBF widths in one library",
    metrics=("error", "columns", "evaluations", "gap"),
    timing=("fit_seconds",),
    tolerance=NO_GAP,
)
paper.exhibit(
    "modern",
    "Multiple kernel learning and gradient boosting",
    metrics=("error", "operations"),
    timing=("fit_seconds", "test_seconds"),
)
paper.exhibit(
    "forest",
    "All examples of Forest",
    metrics=("error", "train_error", "linear", "quadratic", "rbf", "rounds", "n_train"),
    timing=("fit_seconds", "megabytes"),
    alone=True,
)
