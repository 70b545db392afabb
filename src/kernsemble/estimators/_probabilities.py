r"""Class probabilities of the exponential losses, whose minimizers are log-odds.

Each loss, averaged over the classes of x with probabilities p_k(x), has its least value at scores that p
determines (Friedman, Hastie and Tibshirani 2000 for the first):

- AdaBoost: ``exp(-y f)``, y = -1 or +1, at ``f = 1/2 log(p / (1 - p))``;
- AdaBoostMH, AdaBoostMO with one column a class: ``sum_k exp(-Y_k f_k)``, Y_k = +1 for k = y and else -1, at
  ``f_k = 1/2 log(p_k / (1 - p_k))``;
- AdaBoostECC: ``sum_{k != y} exp(-(f_y - f_k) / 2)``, at ``f_k = log p_k`` and any constant;
- MultiBoost: ``sum_{k != y} exp(-(f_y - f_k))``, at ``f_k = 1/2 log p_k`` and any constant.

In AdaBoostECC's, at ``p = e^f / s``, the term of a pair, ``p_y exp(-(f_y - f_k) / 2)``, is
``e^{(f_y + f_k) / 2} / s``, the same for (y, k) and (k, y), so that the derivatives cancel; MultiBoost's is
the same with doubled scores. A fit fits its training data: few rounds, or a small C, leave probabilities too
even, many make them extreme. ``CalibratedClassifierCV`` corrects them on held-out data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax

from kernsemble.estimators._base import TrainingData


class ProbabilisticClassifier:
    """Mixin: probabilities from scores; ``_odds`` is what two-class scores, or softmax scores, count."""

    _odds = 1.0
    _one_against_rest = False

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, n_classes), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba(X)``."""
        scores = self.decision_function(X)
        if self._is_empty():
            return np.tile(np.log(self._shares), (len(scores), 1))
        if scores.ndim == 1:
            scores = self._odds * scores
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return log_softmax(log_expit(2.0 * scores) if self._one_against_rest else self._odds * scores, axis=1)

    def _keep_shares(self, data: TrainingData) -> None:
        """Keep the classes' shares of the weight if scores say nothing."""
        if self._is_empty():
            counts = np.bincount(data.labels, data.weight)
            self._shares = counts / counts.sum()
