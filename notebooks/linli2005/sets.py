"""Labels of the datasets of linli2005."""

from __future__ import annotations

CLEAN_SETS = ("twonorm", "threenorm", "ringnorm")
NOISY_SETS = tuple(f"{name}-n" for name in CLEAN_SETS)
GENERATED_SETS = tuple(label for name in CLEAN_SETS for label in (name, f"{name}-n"))
REAL_SETS = ("australian", "breast", "german", "heart", "ionosphere", "pima", "sonar", "votes84")
TABLE_SETS = (*GENERATED_SETS, *REAL_SETS)
PLANE_SET = "threenorm-2d"
# Breiman's ringnorm with its second mean half as far away, as the R package mlbench defines it.
NEAR_SETS = ("ringnorm-near", "ringnorm-near-n")
MULTICLASS_SETS = ("wine", "iris", "glass", "vehicle", "waveform")
