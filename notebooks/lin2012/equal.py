"""CW beside MultiBoost at equal terms: paired differences after 500 iterations, and by number of stumps."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from kernsemble.report.comparisons import mean_and_spread, paired_p_value
from kernsemble.report.figures import subplots
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study
from lin2012.charts import COLORS, finish, nothing
from lin2012.shown_sets import Sets, sets_of

THREE = ("CW", "CW-1", "MultiBoost")


def show_differences(study: Study) -> Table:
    """Return the test error of CW and of CW-1 minus that of MultiBoost, run by run, on the complete sets."""
    sets = _complete_sets(study)
    rows = []
    for label in sets.places if sets else ():
        errors = sets.values("error", label, *THREE)
        cells = [Cell(label)]
        for k in range(2):
            difference = errors[:, k] - errors[:, 2]
            spread = difference.std(ddof=1) / len(difference) ** 0.5 if len(difference) > 1 else 0.0
            p = paired_p_value(errors[:, k], errors[:, 2])
            cells += [Cell(mean_and_spread(difference.mean(), spread)), Cell(f"{p:.3f}")]
        rows.append(tuple(cells))
    header = ("set", "CW - MultiBoost", "p", "CW-1 - MultiBoost", "p ")
    waiting = f" Waiting: {', '.join(sets.waiting)}." if sets and sets.waiting else ""
    caption = f"{scale_note(study)}Points of test error after 500 iterations, paired t-test.{waiting}"
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "differences")
    return table


def draw_learners(study: Study) -> Figure:
    """Draw the test error against the number of distinct stumps; those of different classes are different."""
    sets = _complete_sets(study)
    if not sets:
        return nothing()
    labels = list(sets.places)
    n_rows = -(-len(labels) // 5)
    n_columns = -(-len(labels) // n_rows)
    size = (max(2.9 * n_columns + 0.3, 4.5), 2.9 * n_rows + 0.3)
    figure, grid = subplots(n_rows, n_columns, size=size, squeeze=False)
    panels, unused = np.split(grid.ravel(), [len(labels)])
    for axes, label in zip(panels, labels, strict=True):
        learners = sets.values("learners", label, *THREE).mean(axis=0)
        errors = sets.values("curve", label, *THREE).mean(axis=0)
        for method, x, y in zip(THREE, learners, errors, strict=True):
            axes.plot(x, np.maximum(y, 0.1), label=method, color=COLORS[method])
        axes.set(title=label, xscale="log", yscale="log", xlabel="distinct stumps")
    for axes in unused:
        axes.axis("off")
    for axes in panels[::n_columns]:
        axes.set_ylabel("test error (%)")
    return finish(figure, panels)


def _complete_sets(study: Study) -> Sets | None:
    try:
        return sets_of(study, *THREE)
    except IncompleteEvidenceError:
        return None
