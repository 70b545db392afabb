"""Watching a fit: scikit-learn's callbacks, from version 1.9 on, and the numbers beside the progress bar.

Both see the one loop after each round. A fit that nobody watches does not pass through here.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from sklearn.base import BaseEstimator

from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.hypotheses.base import Oracle
from kernsemble.masters.base import Master

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9 there are none

    class CallbackSupportMixin:
        """Nothing to support."""

    def with_callbacks(method: Callable) -> Callable:
        """Return the method."""
        return method


def generate(
    model: Any,
    oracle: Oracle,
    master: Master,
    rounds: Any,
    data: dict[str, Any],
    *,
    watch: Callable[[ColumnGeneration], bool] | None = None,
    **options: Any,
) -> ColumnGeneration:
    """Run column generation for an estimator; ``data`` are what callbacks may ask for.

    ``watch`` sees each round, and stops the loop by returning True.
    """
    if model.verbose and rounds:
        watch = _Shown(rounds, watch)
    if getattr(model, "_skl_callbacks", None):
        return _told(model, oracle, master, rounds, data, watch, options)
    return column_generation(oracle, master, rounds, callback=watch, **options)


def seen_by_callbacks(X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """Return what callbacks may ask for: the data as they were given."""
    return {"X": X, "y": y} | (
        {} if sample_weight is None else {"metadata": {"sample_weight": sample_weight}}
    )


def as_if_ended(model: Any, oracle: Oracle, result: ColumnGeneration) -> Any:
    """Return the model as it would be after this round."""
    model = copy(model)
    model._keep(oracle, result)
    return model


@with_callbacks
def _told(model, oracle, master, rounds, data, watch, options) -> ColumnGeneration:
    """Run it and tell the callbacks of the fit and of each round."""
    told = _Told(model, oracle, data, watch)
    result = column_generation(oracle, master, rounds, callback=told, **options)
    told.end(result)
    return result


class _Shown:
    """Writes objective and relative gap, where it is known, beside the bar."""

    def __init__(self, bar: Any, watch: Callable | None) -> None:
        self.bar, self.watch = bar, watch

    def __call__(self, result: ColumnGeneration) -> bool:
        entry = result.rounds[-1]
        words = f"objective {entry.objective:.5g}"
        if entry.full_gap == entry.full_gap:  # not nan
            words += f", gap {entry.full_gap:.2g}"
        self.bar.set_postfix_str(words)
        return self.watch is not None and self.watch(result)


class _Told:
    """Tells scikit-learn's callbacks of each round; True asks the loop to stop."""

    def __init__(self, model: Any, oracle: Oracle, data: dict[str, Any], watch: Callable | None) -> None:
        self.model, self.oracle, self.data, self.watch = model, oracle, data, watch
        self.context = model._init_callback_context(max_subtasks=model.n_rounds)
        self.context.call_on_fit_task_begin(estimator=model, **data)

    def __call__(self, result: ColumnGeneration) -> bool:
        ended = self.watch is not None and self.watch(result)
        task = self.context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=self.model, **self.data)
        return self._tell_end(task, result) or ended

    def end(self, result: ColumnGeneration) -> None:
        """Say that the fit is done."""
        self._tell_end(self.context, result)

    def _tell_end(self, task: Any, result: ColumnGeneration) -> bool:
        """Call the hooks at the end of a task."""
        return task.call_on_fit_task_end(
            estimator=self.model, reconstruction_attributes=lambda: self._as_if_ended(result), **self.data
        )

    def _as_if_ended(self, result: ColumnGeneration) -> dict[str, Any]:
        """Attributes of the model as it would be after this round."""
        model = as_if_ended(self.model, self.oracle, result)
        return {name: value for name, value in BaseEstimator.__getstate__(model).items() if name[-1] == "_"}
