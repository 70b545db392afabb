"""What AdaBoost and its multi-class forms share as estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernsemble.boosting.stagewise import Boosted
from kernsemble.estimators._base import EnsembleClassifier, TrainingData, check_rounds, progress
from kernsemble.estimators._probabilities import ProbabilisticClassifier
from kernsemble.hypotheses.base import Oracle, generator, label
from kernsemble.hypotheses.factory import make_oracle


class StagewiseClassifier(ProbabilisticClassifier, EnsembleClassifier):
    """Classifier that boosts for ``n_rounds``; a subclass says how, in ``_boost``."""

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        perfect: float | str = 1e-3,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ):
        self.n_rounds = n_rounds
        self.base = base
        self.base_options = base_options
        self.perfect = perfect
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StagewiseClassifier:
        """Boost on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, with stumps sparse or not, NaN where a value is missing; uint8, and with stumps
            float32, are used as they are, anything else as float64.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; None means equal ones.

        Returns
        -------
        self
        """
        n_rounds = check_rounds(self.n_rounds)
        data = self._check_training(X, y, sample_weight)
        random = generator(self.random_state)
        oracle = make_oracle(self.base, data.X, random_state=random, **(self.base_options or {}))
        found = self._boost(oracle, data, progress(n_rounds, self.verbose, label(self)), random)
        W = found.W
        if W.ndim == 2 and data.n_classes == 2:  # one score, positive for the second class
            W = W[:, 1] - W[:, 0]
        self.hypotheses_ = oracle.collect(found.keys)
        self.coef_, self.intercept_ = W, 0.0
        self.errors_, self.objective_path_, self.message_ = found.errors, found.losses, found.message
        self.n_rounds_ = len(found.losses)
        self._keep_shares(data)
        return self

    def _boost(self, oracle: Oracle, data: TrainingData, rounds: Any, random: np.random.Generator) -> Boosted:
        """Run the method."""
        raise NotImplementedError
