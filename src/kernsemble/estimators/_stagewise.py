"""What AdaBoost and its multi-class forms share as estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernsemble.boosting.stagewise import Boosted, StopReason
from kernsemble.estimators._base import (
    EnsembleClassifier,
    TrainingData,
    check_rounds,
    checked_options,
    progress,
)
from kernsemble.estimators._probabilities import ProbabilisticClassifier
from kernsemble.estimators._rounds import NO_BETTER, HeldOut, hold_out, keep, kept_from
from kernsemble.hypotheses._threads import in_threads
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
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        self.n_rounds = n_rounds
        self.base = base
        self.base_options = base_options
        self.perfect = perfect
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    @in_threads
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
        given = data.X, data.labels, data.weight
        train, held, oracle, random, found = kept_from(self, *given) or self._begin(data)
        rounds = progress(n_rounds - (len(found.losses) if found else 0), self.verbose, label(self))
        if held is not None:
            found = self._boost_until(held, oracle, train, rounds, random, found)
        elif found is None or found.reason is StopReason.ROUNDS_REACHED:
            found = self._boost(oracle, train, rounds, random, found)
        self._keep(oracle, found)
        if held is not None:
            self.validation_score_ = np.array(held.scores[-self.n_rounds_ :])
            self.message_ = NO_BETTER if held.ended else self.message_
        self._keep_shares(data)
        keep(self, given, (train, held, oracle, random, found))
        return self

    def _begin(self, data: TrainingData) -> tuple:
        """Return the samples to train on, those held out, the oracle, what draws, and no rounds."""
        random = generator(self.random_state)
        train, _, held = hold_out(self, data)
        oracle = make_oracle(self.base, train.X, random_state=random, **checked_options(self.base_options))
        return train, held, oracle, random, None

    def _boost_until(
        self,
        held: HeldOut,
        oracle: Oracle,
        data: TrainingData,
        rounds: Any,
        random: Any,
        found: Boosted | None,
    ) -> Boosted:
        """Boost round by round, as long as it is of any use on held-out samples."""
        for _ in rounds:
            if held.ended or (found and found.reason is not StopReason.ROUNDS_REACHED):
                break
            done = len(found.losses) if found else 0
            found = self._boost(oracle, data, range(1), random, found)
            self._keep(oracle, found)
            if found.reason is StopReason.PERFECT or self.n_rounds_ > done:
                held.add(self)
        return found

    def _keep(self, oracle: Oracle, found: Boosted) -> None:
        """Set the fitted attributes."""
        W = found.W
        if W.ndim == 2 and len(self.classes_) == 2:  # one score, positive for the second class
            W = W[:, 1] - W[:, 0]
        self.hypotheses_ = oracle.collect(found.keys)
        self.weights_, self.intercept_ = W, 0.0
        self.errors_, self.objective_path_, self.message_ = found.errors, found.losses, found.message
        self.n_rounds_ = len(found.losses)

    def _boost(
        self, oracle: Oracle, data: TrainingData, rounds: Any, random: Any, start: Boosted | None
    ) -> Boosted:
        """Run the method, or go on with it."""
        raise NotImplementedError
