"""Labels of the datasets of guo2017."""

from __future__ import annotations

TABLE_SETS = ("german", "diabetes", "australian", "sonar", "splice", "liver", "heart", "ionosphere")
STORED = {"german": "german24", "diabetes": "pima"}
LARGE_SET = "ijcnn1"
# Sizes of training sets of the last panel of figure 1; the last is all of it.
SIZE_SETS = tuple(f"n={n}" for n in (2500, 5000, 10000, 20000, 49990))
MULTICLASS_SETS = ("wine", "iris", "glass", "vehicle")
