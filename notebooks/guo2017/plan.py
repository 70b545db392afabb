"""What the reproduction of guo2017 consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.trials.registry import Paper
from guo2017.sets import LARGE_SET, MULTICLASS_SETS, SIZE_SETS, STORED, TABLE_SETS

paper = Paper(
    "guo2017",
    title="Exclusivity Regularized Machine: A New Ensemble SVM Classifier",
    datasets={
        **{name: STORED.get(name, name) for name in TABLE_SETS},
        LARGE_SET: LARGE_SET,
        **dict.fromkeys(SIZE_SETS, LARGE_SET),
        **{name: name for name in MULTICLASS_SETS},
    },
    only={"n_large": [LARGE_SET]},
)

# Numbers of bases of table 3; each is a metric.
BASES = (1, 5, 10, 30)
ERRORS = tuple(f"error_{C}" for C in BASES)
EXACT = tuple(f"exact_{C}" for C in BASES)

# Gaps below what any solver was asked for are as good as none.
NO_GAP = {"gap": 1e-6}

paper.exhibit(
    "figure1",
    "Training and test error against lambda",
    metrics=("train_error", "error", "gap"),
    tolerance=NO_GAP,
)
paper.exhibit(
    "convergence",
    "Objective against iterations (figure 1, third panel)",
    metrics=("path", "n_iter", "settled", "gap"),
    tolerance=NO_GAP,
)
paper.exhibit(
    "scaling",
    "Training time against the number of samples (figure 1, fourth panel)",
    metrics=("n_iter",),
    timing=("fit_seconds",),
    alone=True,
)
paper.exhibit("table1", "Test errors (tables 1 and 3)", metrics=(*ERRORS, *EXACT, "nu"))
paper.exhibit("table2", "Training time", metrics=(), timing=("fit_seconds",), alone=True)
paper.exhibit(
    "theorems",
    "Theorem 2, proposition 1 and the equality with one machine, measured",
    metrics=("gap", "spread", "distance", "loss_ratio", "infeasible", "n_iter"),
    tolerance={**NO_GAP, "spread": 1e-6, "distance": 1e-6, "loss_ratio": 1e-9, "infeasible": 1e-6},
)
paper.exhibit(
    "penalty",
    "The gap of the limit against the growth of the penalty",
    metrics=("gap", "n_iter"),
    tolerance=NO_GAP,
)
paper.exhibit("zeros", "A zero entry under reweighting", metrics=("stuck", "undefined", "exact_difference"))
paper.exhibit(
    "solvers",
    "Four ways to solve problem (5)",
    metrics=("gap",),
    timing=("fit_seconds",),
    tolerance={"gap": 1e-5},
    alone=True,
)
paper.exhibit("readings", "What other readings of the protocol change", metrics=("L1_10", "L2_10", "L2_30"))
paper.exhibit("bases", "Other ways to boost and bag SVMs", metrics=("error_5", "error_10", "error_30"))
paper.exhibit("drm", "Other settings of DRM", metrics=("error_1", "error_10"))
paper.exhibit(
    "trees", "What could have happened to the trees", metrics=("Ada_10", "Ada_30", "Bag_10", "Bag_30")
)
paper.exhibit("path", "One curve for all numbers of components", metrics=("error",))
paper.exhibit(
    "diversity", "Diversity that survives", metrics=("error", "exclusivity", "gap"), tolerance=NO_GAP
)
paper.exhibit("wrapped", "ExRM inside bagging and boosting", metrics=("error",))
paper.exhibit("multiclass", "More than two classes", metrics=("error",))
paper.exhibit("modern", "The single machine with lambda by cross-validation, and trees", metrics=("error",))
