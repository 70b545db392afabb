"""What the CG-Boost estimators share: one run of column generation over a library of kernels, and its record.

``_run`` takes checked data, a master and the bound of its dual weights, and sets every fitted attribute that
does not depend on the task. The rules of section 5.2 of bi2004 are settings of the run:

- TR1  the oracle never looks beyond columns centered at error points; it ends when none violates the dual;
- TR2  it ends when no column at all violates the dual, or the certified gap is small;
- TR3  it ends when the loss on validation data has not improved for ``patience`` rounds; the best is kept;
- TR4  it ends after ``n_rounds`` (the others do too).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernsemble.column_generation import ColumnGeneration, StopReason
from kernsemble.estimators._base import (
    CheckedInput,
    check_positive,
    check_rounds,
    progress,
    refuse_huge,
    warn_of_gap,
)
from kernsemble.estimators._rounds import keep, kept_from
from kernsemble.estimators._watching import CallbackSupportMixin, generate
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.base import Candidate, generator, label
from kernsemble.hypotheses.kernel_columns import KernelColumns, Search
from kernsemble.hypotheses.kernel_library import FeatureKernel, Kernel
from kernsemble.masters.base import Master
from kernsemble.masters.one_against_rest import OneAgainstRest
from kernsemble.masters.rows import Rows

Library = Sequence[Kernel | str | Callable]
RULES = ("TR1", "TR2", "TR3", "TR4")
_CHOICES = {
    "norm": ("l1", "l2"),
    "intercept": ("none", "free", "penalized"),
    "termination": RULES,
    "stratified": ("levels", True, False),
}
_MORE = "Increase n_rounds, tol or tau, or lower C"
_REMEDIES = {rule: f"{_MORE}: {rule} has not stopped it." for rule in RULES[:3]} | {
    "TR4": f"{_MORE}; tol=None runs n_rounds without this warning."
}
_PORTABLE_TOL = 1e-9  # to which the dual weights are the same on every computer, but for the nearest ties
_LARGEST_FEATURE = 1e150  # its square, which every kernel takes, is finite
_LARGEST_COLUMN = {"l1": 1e12, "l2": 1e80}  # entries beyond which the masters lose their digits


class Validation(NamedTuple):
    """Data that the rounds are watched on, and the loss of scores there."""

    X: np.ndarray
    loss: Callable[[np.ndarray], float]


class CGBoostBase(CallbackSupportMixin, CheckedInput):
    """Base of the CG-Boost estimators; the module says what ``_run`` does."""

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, by name."""
        for name, choices in _CHOICES.items():
            value = getattr(self, name, choices[0])
            if value not in choices:
                raise ValueError(f"{name}={value!r}: use one of {choices}.")
        for name, bounds in {
            "epsilon": {"min_val": 0},
            "tau": {"min_val": 0},
            "validation_fraction": {"min_val": 0, "max_val": 1, "include_boundaries": "neither"},
        }.items():
            if hasattr(self, name):
                check_scalar(getattr(self, name), name, Real, **bounds)
        if self.tol is not None:
            check_scalar(self.tol, "tol", Real, min_val=0)
        if hasattr(self, "C"):
            check_positive(self.C, "C")
        if hasattr(self, "patience"):
            check_scalar(self.patience, "patience", Integral, min_val=1)
        if self.max_centers is not None:
            check_scalar(self.max_centers, "max_centers", Integral, min_val=1)
        check_rounds(self.n_rounds)
        if isinstance(self.kernels, str) or not len(self.kernels):
            raise ValueError(
                f"kernels={self.kernels!r}: give a list of at least one kernel, such as ['linear', 'rbf'], "
                "or [GramKernel(matrix)] for a kernel matrix."
            )
        if getattr(self, "nu", None) is not None and (self.norm, self.intercept) != ("l2", "free"):
            raise ValueError("The nu forms need norm='l2' and intercept='free'.")

    def _check_validation(self, X_val: Any, y_val: Any) -> np.ndarray:
        """Return checked validation samples; they must come with targets."""
        if y_val is None:
            raise ValueError("X_val needs y_val.")
        X_val = self._validated(X_val, reset=False)
        check_consistent_length(X_val, y_val)
        return X_val

    def _run(
        self,
        given: tuple,
        X: np.ndarray,
        master: Master,
        bound: float | np.ndarray,
        validation: Validation | None,
        told: dict[str, Any],
    ) -> tuple[KernelColumns, Master]:
        """Generate columns from X until a rule stops; set the fitted attributes; return oracle and master.

        ``given`` are the arrays that must be the same for a warm start, which has its own master; ``told``
        is what callbacks may ask for.
        """
        rule = getattr(self, "termination", "TR4")
        parts = kept_from(self, *given)
        if parts is None:
            refuse_huge(X, _LARGEST_FEATURE)
            oracle = self._oracle(X, master, bound, rule)
            _refuse_huge_columns(oracle, _LARGEST_COLUMN[self.norm])
            watch = None if validation is None else _Watch(oracle, validation, rule == "TR3", self.patience)
            master.solve()
            start, n_rounds = None, self.n_rounds
        else:
            oracle, master, watch, start = parts
            n_rounds = 0 if watch is not None and watch.ended else self.n_rounds - len(start.rounds)
        with np.errstate(over="ignore"):  # scores are sums of large entries times dual weights
            rounds = progress(n_rounds, self.verbose, label(self))
            options = {"tol": self.tol or 0.0, "epsilon": self.tau, "start": start}
            found = generate(self, oracle, master, rounds, told, watch=watch, **options)
        self._keep(oracle, found, watch)
        self.dual_weights_ = found.shrink * master.pricing_weights()
        self._warn_unless_done(found, rule)
        keep(self, given, (oracle, master, watch, found))
        return oracle, master

    def _master_tol(self) -> float:
        """Relative gap that a master must reach: small beside that of the whole problem; a vertex in l1."""
        if self.norm == "l2" and self.portable:
            return min(_PORTABLE_TOL, 0.01 * self.tol) if self.tol else _PORTABLE_TOL
        if self.norm == "l1" or self.tol is None or self.tol >= 1e-4:
            return 1e-6
        return 0.01 * self.tol if self.tol > 0 else 1e-8

    def _oracle(self, X: np.ndarray, master: Master, bound: float | np.ndarray, rule: str) -> KernelColumns:
        centers = None
        if self.max_centers is not None and self.max_centers < len(X):
            centers = generator(self.random_state).choice(len(X), self.max_centers, replace=False)
        kind = _ColumnsOfClasses if isinstance(master, OneAgainstRest) else KernelColumns
        return kind(
            X,
            self._library(),
            signed=self.positive,
            stratified=self.stratified,
            full_scan=rule != "TR1",
            tau=master.threshold() + self.tau,
            bound=bound,
            centers=centers,
        )

    def _library(self) -> list:
        """Return the kernels, groups of named features by their numbers."""
        names = list(getattr(self, "feature_names_in_", ()))
        return [_numbered(kernel, names) for kernel in self.kernels]

    def _keep(self, oracle: KernelColumns, found: ColumnGeneration, watch: _Watch | None = None) -> None:
        """Set the fitted attributes."""
        solution = found.solution
        self.hypotheses_ = oracle.collect(found.keys)
        self.kernels_ = oracle.kernels
        self.weights_path_ = list(found.weights)
        self.n_rounds_ = len(found.rounds)
        self.best_round_ = self.n_rounds_
        if watch is not None:
            self.validation_path_ = np.array(watch.losses)
            if watch.stops and watch.losses:
                self.best_round_ = int(np.argmin(watch.losses)) + 1
        w, b = found.weights[self.best_round_ - 1] if found.weights else (solution.w, solution.b)
        self.weights_ = _lengthened(w, len(found.keys))
        self.intercept_ = b
        self.objective_path_ = found.path("objective")
        self.gap_path_ = found.path("full_gap")
        self.dual_gap_, self.relative_gap_ = float(found.gap), found.relative_gap
        self.oracle_seconds_path_ = found.path("oracle_seconds")
        self.master_seconds_path_ = found.path("master_seconds")
        self.columns_scanned_path_ = np.array([search.n_scanned for search in oracle.searches])
        self.termination_rounds_ = _rounds_of_rules(found, oracle)
        self.n_columns_ = self.hypotheses_.counts(self.weights_)
        self.n_kernel_evaluations_ = self.hypotheses_.n_evaluations(self.weights_)
        self.kernel_weights_ = _shares(self.hypotheses_.parts(oracle.X, self.weights_))
        self.message_ = found.message

    def _warn_unless_done(self, found: ColumnGeneration, rule: str) -> None:
        """Warn once: of rounds that ended above ``tol``, or else of an unsolved restricted problem."""
        ran_out = found.reason is StopReason.ROUNDS_REACHED
        unwanted = rule in ("TR1", "TR2") or self.tol is not None
        if ran_out and unwanted and self.relative_gap_ > (self.tol or 0.0):
            warn_of_gap(label(self), self.n_rounds_, self.relative_gap_, self.tol or 0.0, _REMEDIES[rule], 6)
        else:
            found.solution.warn_unless_converged(f"{label(self)}'s master")

    @in_threads
    def _scores(self, X: Any) -> np.ndarray:
        """Return the ensemble's values at X."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self.hypotheses_.decision(X, self.weights_, self.intercept_)

    def columns_path(self) -> dict[str, np.ndarray]:
        """Number of columns with a weight after each round, by kernel."""
        counts = [
            self.hypotheses_.counts(_lengthened(w, len(self.hypotheses_))) for w, _ in self.weights_path_
        ]
        return {name: np.array([count[name] for count in counts]) for name in self.n_columns_}


class _ColumnsOfClasses(KernelColumns):
    """Kernel columns priced for several classes: a search for each, at a level of its own."""

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return the column that the search of each class finds, of those that find one."""
        levels, before = getattr(self, "_levels", np.full(V.shape[1], np.inf)), len(self.searches)
        found = []
        for k, v in enumerate(V.T):
            self._level = levels[k]
            found += super().best(v)
            levels[k] = self._level
        self._levels = levels
        scanned, errors, full = zip(*self.searches[before:], strict=True)
        self.searches[before:] = [Search(sum(scanned), sum(errors), all(full))]
        return found

    def largest_score(self, v: np.ndarray) -> float:
        """Largest violation over N of any class."""
        return max(super(_ColumnsOfClasses, self).largest_score(column) for column in v.T)


def _numbered(kernel: Any, names: list[str]) -> Any:
    """Return a kernel with the features that it names by their numbers."""
    if isinstance(kernel, np.ndarray):
        raise ValueError(
            f"kernels has an array of shape {kernel.shape}: for a kernel matrix of all samples write "
            "GramKernel(matrix), of kernsemble.hypotheses.kernel_library; X then is the samples' numbers."
        )
    if not isinstance(kernel, FeatureKernel) or not any(isinstance(name, str) for name in kernel.features):
        return kernel
    if missing := [name for name in kernel.features if name not in names]:
        raise ValueError(f"features={kernel.features!r}: X has no column of the name {missing[0]!r}.")
    called = kernel.called or ",".join(kernel.features)
    return replace(kernel, features=[names.index(name) for name in kernel.features], called=called)


def _lengthened(w: np.ndarray, n: int) -> np.ndarray:
    """Return weights of n columns, 0 for those that are to come."""
    return np.append(w, np.zeros((n - len(w), *w.shape[1:])), axis=0)


def _refuse_huge_columns(oracle: KernelColumns, limit: float) -> None:
    """Refuse kernels whose column at the sample farthest from 0 has entries beyond the limit."""
    X = oracle.X
    far = X[np.abs(X).max(axis=1).argmax()][None]
    for kernel in oracle.kernels:
        with np.errstate(over="ignore", invalid="ignore"):
            values = kernel.matrix(X, far)
        refuse_huge(values, limit, f"Kernel {kernel.name!r}")


def _shares(parts: dict[str, np.ndarray]) -> dict[str, float]:
    """Share of each part in the sum of their standard deviations; variances of several scores are added."""
    with np.errstate(over="ignore"):  # of large entries
        spreads = {name: float(np.sqrt(np.var(part, axis=0).sum())) for name, part in parts.items()}
    total = sum(spreads.values()) or 1.0
    return {name: spread / total for name, spread in spreads.items()}


class _Watch:
    """Callback that follows the loss on validation data and stops once it has not improved for long."""

    def __init__(self, oracle: KernelColumns, validation: Validation, stops: bool, patience: int) -> None:
        self.oracle, self.validation, self.stops, self.patience = oracle, validation, stops, patience
        self.losses: list[float] = []
        self._columns = Rows(len(validation.X))

    def __call__(self, found: ColumnGeneration) -> bool:
        """Record the round's loss; True asks the loop to stop."""
        new = self.oracle.collect(found.keys[self._columns.n_columns :])
        for column in new.outputs(self.validation.X).T:
            self._columns.add(column)
        scores = np.apply_along_axis(self._columns.scores, 0, found.solution.w)
        self.losses.append(self.validation.loss(scores + found.solution.b))
        return self.ended

    @property
    def ended(self) -> bool:
        """Whether TR3 has stopped."""
        waited = len(self.losses) - 1 - int(np.argmin(self.losses)) if self.losses else 0
        return self.stops and waited >= self.patience


def _rounds_of_rules(found: ColumnGeneration, oracle: KernelColumns) -> dict[str, int | None]:
    """After how many rounds TR1 would have stopped, and TR2 did; None where they had not come yet."""
    first_full = next((t for t, search in enumerate(oracle.searches) if search.full), None)
    ended = found.reason in (StopReason.NOTHING_MISSING, StopReason.GAP_REACHED)
    solved = len(found.rounds) if ended and oracle.full_scan else None
    if not oracle.stratified:
        first_full = None
    elif not oracle.full_scan and found.reason is StopReason.NOTHING_MISSING:
        first_full = len(found.rounds)
    return {"TR1": first_full, "TR2": solved}


def refuse_weights(weight: np.ndarray) -> None:
    """Refuse sample weights, which the nu forms have no place for."""
    if not np.all(weight == 1.0):
        raise ValueError("The nu forms take no sample_weight; leave it out, or use C instead of nu.")
