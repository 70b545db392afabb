"""What the estimators of column generation share: the fit, and the attributes it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kernsemble.column_generation import ColumnGeneration, StopReason
from kernsemble.estimators._base import (
    EnsembleClassifier,
    TrainingData,
    at_rows,
    check_positive,
    check_rounds,
    check_tol,
    checked_options,
    progress,
    warn_of_gap,
)
from kernsemble.estimators._rounds import NO_BETTER, hold_out, keep, kept_from
from kernsemble.estimators._watching import CallbackSupportMixin, as_if_ended, generate, seen_by_callbacks
from kernsemble.hypotheses._fixed_point import clear_ties
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.base import Oracle, generator, label
from kernsemble.hypotheses.factory import make_oracle
from kernsemble.masters.base import Master

_SLACK = 2e-6  # of tol where no hypothesis is missing: scores may exceed the threshold by 1e-6


class ColumnGenerationClassifier(CallbackSupportMixin, EnsembleClassifier):
    """Classifier fitted by column generation; a subclass says with which master, in ``_master``.

    It needs the parameters ``C``, ``n_rounds``, ``base``, ``base_options``, ``tol``, ``random_state`` and
    ``verbose``.
    """

    _per_output = False
    _repeat = False
    warm_start, n_iter_no_change, n_jobs = False, None, None  # where a subclass has no such parameters

    @in_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ColumnGenerationClassifier:
        """Find hypotheses and their weights on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, with stumps sparse or not, NaN where a value is missing; uint8, and with stumps
            float32, are used as they are, anything else as float64.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative factors of C; None means ones.

        Returns
        -------
        self
        """
        n_rounds = check_rounds(self.n_rounds)
        self._check_cost()
        check_tol(self.tol)
        data = self._check_training(X, y, sample_weight)
        given = data.X, data.labels, data.weight
        train, kept, held, oracle, master, found = kept_from(self, *given) or self._begin(data)
        n_left = 0 if held is not None and held.ended else n_rounds - (len(found.rounds) if found else 0)
        rounds = progress(n_left, self.verbose, label(self))
        watch = None if held is None else lambda result: held.add(as_if_ended(self, oracle, result))
        options = {"per_output": self._per_output, "repeat": self._repeat, "watch": watch, "start": found}
        told = seen_by_callbacks(X, y, sample_weight)
        try:
            result = generate(self, oracle, master, rounds, told, tol=self.tol or 0.0, **options)
        except np.linalg.LinAlgError as error:
            raise ValueError(f"C={self.C} is too large for double precision here: lower it.") from error
        self._keep(oracle, result)
        self._certify(train)
        self.dual_weights_ = at_rows(self._dual_weights(master, result), data.used, kept)
        if master.threshold() > 0.0 and np.isnan(oracle.sum_of_squares(np.zeros(len(train.labels)))):
            # An infinite family: the largest score that a search found bounds no other.
            self.dual_gap_ = self.relative_gap_ = np.nan
            self.gap_path_[:] = np.nan
        if held is not None:
            self.validation_score_ = np.array(held.scores)
        if held is not None and held.ended:
            self.message_ = NO_BETTER
        else:
            self._warn_unless_done(result)
        keep(self, given, (train, kept, held, oracle, master, result))
        return self

    def _begin(self, data: TrainingData) -> tuple:
        """Return the samples to train on, which they are, who is held out, oracle, master, and no rounds."""
        train, kept, held = hold_out(self, data)
        options = self._base_options()
        oracle = make_oracle(self.base, train.X, random_state=generator(self.random_state), **options)
        return train, kept, held, oracle, self._master(train), None

    def _decide(self, X: np.ndarray) -> np.ndarray:
        """Scores of checked rows; of two classes, votes that end in a draw but for rounding score 0."""
        scores = super()._decide(X)
        return clear_ties(scores, self.weights_, self.intercept_) if scores.ndim == 1 else scores

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield ``decision_function(X)`` after each round; nothing where no round was run."""
        for scores, (w, b) in zip(super().staged_decision_function(X), self.weights_path_, strict=True):
            yield clear_ties(scores, w, b) if scores.ndim == 1 else scores

    def _check_cost(self) -> None:
        check_positive(self.C, "C")

    def _certify(self, data: TrainingData) -> None:
        """Make the certificate that of the model as it is, where rounding can tell them apart."""

    def _dual_weights(self, master: Master, result: ColumnGeneration) -> np.ndarray:
        """Signed dual weights that are feasible for the problem over all hypotheses."""
        return result.shrink * master.pricing_weights()

    def _warn_unless_done(self, result: ColumnGeneration) -> None:
        """Warn once: of a gap above the tolerance, or else of a restricted problem that was not solved."""
        tol = np.inf if self.tol is None else self.tol
        if result.reason is StopReason.NOTHING_MISSING:
            tol += _SLACK
        if self.relative_gap_ > tol:
            warn_of_gap(label(self), self.n_rounds_, self.relative_gap_, self.tol, self._remedy())
        else:
            result.solution.warn_unless_converged(f"The master of {label(self)}")

    def _remedy(self) -> str:
        return "Increase n_rounds or tol, or lower C; tol=None runs n_rounds without this warning."

    def _base_options(self) -> Mapping[str, Any]:
        """Options of the oracle; an intercept makes the constant stump superfluous."""
        options = checked_options(self.base_options)
        if isinstance(self.base, str) and self.base == "stump":
            options.setdefault("constant", getattr(self, "intercept", "none") == "none")
        return options

    def _master(self, data: TrainingData) -> Master:
        """Return the master problem, without columns."""
        raise NotImplementedError

    def _keep(self, oracle: Oracle, result: ColumnGeneration) -> None:
        """Set the fitted attributes."""
        self.hypotheses_ = oracle.collect(result.keys)
        self.weights_, self.intercept_ = result.solution.w, result.solution.b
        self.weights_path_ = list(result.weights)
        self.objective_path_, self.gap_path_ = result.path("objective"), result.path("full_gap")
        self.rounds_, self.n_rounds_ = result.rounds, len(result.rounds)
        self.dual_gap_, self.relative_gap_ = float(result.gap), result.relative_gap
        self.message_ = result.message
