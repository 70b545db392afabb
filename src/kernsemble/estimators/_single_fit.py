"""Base of the classifiers that are solved at once: scores without rounds, hence without stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from kernsemble.estimators._base import EnsembleClassifier
from kernsemble.masters.base import Solution, relative


class SingleFitClassifier(EnsembleClassifier):
    """An ensemble classifier without rounds; a child computes scores in ``_decide(X)``."""

    _input_types = (np.float64,)

    def _keep_gap(self, solutions: Sequence[Solution], name: str) -> None:
        """Set both gaps, of the worst machine each; warn once where a machine has not converged."""
        gaps = [relative(solution.gap, solution.objective) for solution in solutions]
        self.dual_gap_ = max(solution.gap for solution in solutions)
        self.relative_gap_ = max(gaps)
        unsolved = [i for i, solution in enumerate(solutions) if not solution.converged]
        if unsolved:
            solutions[max(unsolved, key=gaps.__getitem__)].warn_unless_converged(name)

    def _without_stages(self) -> NoReturn:
        """Refuse an attribute that belongs to methods with rounds."""
        raise AttributeError(f"{type(self).__name__} is solved at once: it has neither stages nor stumps.")

    staged_predict = property(_without_stages)
    staged_decision_function = property(_without_stages)
    feature_importances_ = property(_without_stages)


def class_signs(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Signs of the two-class problems, one a row: one for two classes, else each against the rest."""
    if n_classes == 2:
        return (2.0 * labels - 1.0)[np.newaxis]
    return np.where(labels == np.arange(n_classes)[:, np.newaxis], 1.0, -1.0)
