"""What the reproduction of linli2005 consists of: its datasets and its exhibits."""

from __future__ import annotations

from kernsemble.trials.registry import Paper
from linli2005.sets import (
    GENERATED_SETS,
    MULTICLASS_SETS,
    NEAR_SETS,
    PLANE_SET,
    REAL_SETS,
)

paper = Paper(
    "linli2005",
    title="Novel Distance-Based SVM Kernels for Infinite Ensemble Learning",
    datasets={
        **dict.fromkeys(GENERATED_SETS),
        **{name: {"german": "german24"}.get(name, name) for name in REAL_SETS},
        **dict.fromkeys(NEAR_SETS),
        PLANE_SET: None,
        **{name: name for name in MULTICLASS_SETS if name != "waveform"},
        "waveform": None,
    },
    only={"missing_votes": ["votes84"]},
)

paper.exhibit(
    "figure1",
    "The infinite ensemble, written out",
    metrics=("difference", "support"),
    tolerance={"difference": 1e-9},
)
paper.exhibit(
    "figure2",
    "Four decision boundaries in the plane, and how far they are from Bayes",
    metrics=("area", "probability", "excess"),
)
paper.exhibit(
    "table1",
    "Test errors of SVMs and AdaBoost (tables I and II)",
    metrics=("error", "train_error", "log2_C", "log2_gamma", "tied", "size"),
)
paper.exhibit(
    "theorems",
    "Theorems 2 to 7, checked on training sets",
    metrics=("constant", "scaling", "eigenvalue", "separated", "distinct"),
    tolerance={"constant": 1e-6, "scaling": 1e-6, "eigenvalue": 1e-9},
)
paper.exhibit("sampling", "A kernel as the average of sampled hypotheses", metrics=("error", "predicted"))
paper.exhibit(
    "selection",
    "55 against 550 problems of parameter selection",
    metrics=("problems",),
    timing=("selection_seconds",),
    alone=True,
)
paper.exhibit("hard", "What happens without soft margins", metrics=("error",))
paper.exhibit("protocol", "What other readings of the protocol change", metrics=("SVM-Stump", "SVM-Perc"))
paper.exhibit("base_learner", "What the base learner of AdaBoost changes", metrics=("error", "train_error"))
paper.exhibit("lpboost", "Boosting with slack variables", metrics=("error", "log2_C", "size"))
paper.exhibit("modern", "Tree ensembles of today on the same trials", metrics=("error",))
paper.exhibit("multiclass", "More than two classes", metrics=("error",))
paper.exhibit("rounds", "Test error against the number of rounds", metrics=("error",))
paper.exhibit("finite", "Finite ensembles on their way to infinity", metrics=("error", "disagreement"))
