"""The drawings of lin2012's evidence, and two tables; a set whose trials wait has an empty panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kernsemble.report.comparisons import mean_and_spread, paired_p_value
from kernsemble.report.figures import PALETTE, draw_band, subplots
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from lin2012.claims import PAPER_SOLVER, Sets, checkpoints_of, sets_of
from lin2012.trials import PAPER_SETS

COLORS = {
    "CW": PALETTE[0], "CW-1": PALETTE[5], "MultiBoost": PALETTE[1], PAPER_SOLVER: PALETTE[1],
    "Ada.ECC": PALETTE[2], "Ada.MH": PALETTE[4], "Ada.MO": PALETTE[3], "MultiBoost-1": PALETTE[4],
}  # fmt: skip
_SOLVERS = dict(zip(("FCD 1", "FCD 2", "FCD 5", "FCD 10", "L-BFGS-B", "Newton"), PALETTE, strict=False))
_LEAST = 1e-6  # excess over the optimum that can be told from none


def _shown(evidence: Evidence) -> list[str]:
    """Return the paper's sets of an exhibit; the small one where the scale runs no other."""
    chosen = [label for label in evidence.datasets if label in PAPER_SETS]
    return chosen or list(evidence.datasets)


def nothing(reason: str = "not run at this scale") -> Figure:
    """Return a strip that says why there is no figure."""
    figure, axes = subplots(size=(5, 0.8))
    axes.text(0.5, 0.5, reason, ha="center", va="center", color="#888888")
    axes.axis("off")
    return figure


def _numbers(mantissas: tuple[int, ...]) -> FuncFormatter:
    """Return what writes these mantissas times a power of ten in full, other numbers not at all."""

    def number(x: float, _: object) -> str:
        return f"{x:g}" if round(x / 10.0 ** np.floor(np.log10(x)), 6) in mantissas else ""

    return FuncFormatter(number)


def _say_numbers(*axes: Axes) -> None:
    """Let the ticks of logarithmic axes be plain numbers, more of them on short axes."""
    for panel in axes:
        panel.tick_params(which="minor", pad=5)
        for axis in (panel.xaxis, panel.yaxis):
            if axis.get_scale() == "log":
                low, high = sorted(axis.get_view_interval())
                ratio = high / low if low > 0 else np.inf
                some = tuple(range(1, 10)) if ratio < 3 else (1, 2, 3, 4, 5, 7) if ratio < 8 else (1, 2, 5)
                axis.set_major_formatter(_numbers(some))
                axis.set_minor_formatter(_numbers(some if ratio < 60 else ()))


def _say_waiting(axes: Axes) -> None:
    if not axes.lines:
        axes.text(0.5, 0.5, "waits", ha="center", va="center", transform=axes.transAxes, color="#888888")
        axes.tick_params(which="both", left=False, labelleft=False, bottom=False, labelbottom=False)
        axes.grid(visible=False)


def _share_legend(figure: Figure, panels: np.ndarray) -> None:
    """Draw one legend below the panels, of all that occurs in them."""
    found = {}
    for axes in np.ravel(panels):
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        most = max(2, int(figure.get_figwidth() / 1.5))
        columns = -(-len(found) // -(-len(found) // most))  # rows of equal length
        figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)


def finish(figure: Figure, panels: np.ndarray) -> Figure:
    """Write plain numbers at the axes and one legend below them; a strip if there is nothing to see yet."""
    if not any(axes.lines for axes in np.ravel(panels)):
        return nothing("its trials wait")
    _say_numbers(*np.ravel(panels))
    _share_legend(figure, panels)
    return figure


def draw_curves(study: Study, exhibit: str) -> Figure:
    """Draw a figure of the paper: test error, seconds in all, seconds in the solver against iterations."""
    evidence, checkpoints = study.evidence(exhibit), checkpoints_of(study)
    labels = _shown(evidence)
    if not labels:
        return nothing()
    size = (max(3.1 * len(labels) + 0.5, 5.0), 6.6)
    figure, panels = subplots(3, len(labels), size=size, squeeze=False, sharex=True)
    for column, label in zip(panels.T, labels, strict=True):
        for method in evidence.methods:
            _draw_method(column, evidence, label, method, checkpoints)
        for axes in column:
            _say_waiting(axes)
        column[0].set(title=label, yscale="log", ylim=_error_limits(column[0]))
        column[1].set(yscale="log")
        column[2].set(yscale="log", xlabel="iterations")
    for axes, name in zip(panels[:, 0], ("test error (%)", "seconds", "seconds in the solver"), strict=True):
        axes.set_ylabel(name)
    return finish(figure, panels)


def _error_limits(axes: Axes) -> tuple[float, float] | None:
    values = [line.get_ydata()[3:] for line in axes.lines]
    if not values:
        return None
    everything = np.concatenate(values)
    return 0.85 * max(everything.min(), 0.1), 1.1 * everything.max()


def _draw_method(
    column: np.ndarray, evidence: Evidence, label: str, method: str, checkpoints: np.ndarray
) -> None:
    """Draw one method in the three panels of a set; L-BFGS-B as far as it came."""
    timed = method == PAPER_SOLVER
    metrics = ((None if timed else "curve"), "seconds_curve", _solver_metric(method))
    style = {"color": COLORS[method], "linestyle": "--" if timed else "-", "linewidth": 1.3}
    finished = evidence.sample("finished", dataset=label, method=method).values if timed else ()
    shown = checkpoints <= finished.min() if len(finished) else np.ones(len(checkpoints), dtype=bool)
    for axes, metric in zip(column, metrics, strict=True):
        curves = evidence.curves(metric, dataset=label, method=method) if metric else ()
        if len(curves):
            draw_band(axes, checkpoints[shown], curves[:, shown], method, **style)


def _solver_metric(method: str) -> str | None:
    return "solver_curve" if method in ("CW", "CW-1", "MultiBoost", PAPER_SOLVER) else None


def draw_solvers(study: Study) -> Figure:
    """Draw figure 6: objective and seconds against iterations, excess over the optimum against seconds."""
    evidence, protocol = study.evidence("figure6"), study.protocol("figure6")
    checkpoints, exact = np.array(protocol["checkpoints"]), protocol["exact_points"]
    labels = _shown(evidence)
    if not labels:
        return nothing()
    figure, panels = subplots(3, len(labels), size=(max(3.1 * len(labels) + 0.5, 5.0), 7), squeeze=False)
    places = np.searchsorted(checkpoints, exact)
    for column, label in zip(panels.T, labels, strict=True):
        for method in evidence.methods:
            _draw_solver(column, evidence, label, method, checkpoints, places)
        for axes in column:
            _say_waiting(axes)
            axes.set(yscale="log")
        column[0].set(title=label, xlabel="iterations", xscale="log")
        column[1].set(xlabel="iterations")
        column[2].set(xlabel="seconds", xscale="log")
    names = ("objective (2)", "seconds", "objective / optimum - 1")
    for axes, name in zip(panels[:, 0], names, strict=True):
        axes.set_ylabel(name)
    return finish(figure, panels)


def _draw_solver(
    column: np.ndarray,
    evidence: Evidence,
    label: str,
    method: str,
    checkpoints: np.ndarray,
    places: np.ndarray,
) -> None:
    """Draw one solver in the three panels of a set; L-BFGS-B as far as it came."""
    late = "late_" if method == "L-BFGS-B" else ""
    rounds = evidence.sample(f"{late}rounds", dataset=label, method=method).values
    if not len(rounds):
        return
    objective, excess, seconds = (
        evidence.curves(metric, dataset=label, method=method)
        for metric in (f"{late}objective", f"{late}excess", "seconds_curve")
    )
    shown = checkpoints <= rounds.min() if late else checkpoints > 0
    style = {"color": _SOLVERS[method], "linewidth": 1.3}
    draw_band(column[0], checkpoints[shown], objective[:, shown], method, **style)
    draw_band(column[1], checkpoints[shown], seconds[:, shown], method, **style)
    x, y = seconds.mean(axis=0)[places], np.maximum(excess.mean(axis=0), _LEAST)
    column[2].plot(x[shown[places]], y[shown[places]], marker="o", markersize=3, label=method, **style)


def _one_row(
    evidence: Evidence, draw: Callable[[Axes, str], None], xlabel: str, ylabel: str = "test error (%)"
) -> Figure:
    """Return a figure with one panel for each set, on logarithmic axes; a strip if the scale runs none."""
    labels = list(evidence.datasets)
    if not labels:
        return nothing()
    figure, panels = subplots(1, len(labels), size=(max(2.9 * len(labels) + 0.3, 4.5), 3.2), squeeze=False)
    for axes, label in zip(panels[0], labels, strict=True):
        draw(axes, label)
        axes.set(title=label, xscale="log", yscale="log", xlabel=xlabel)
        _say_waiting(axes)
    panels[0, 0].set_ylabel(ylabel)
    return finish(figure, panels)


def draw_accuracy(study: Study) -> Figure:
    """Draw the seconds of 100 rounds against the accuracy of each."""
    evidence, levels = study.evidence("accuracy"), np.array(study.protocol("accuracy")["accuracies"])

    def draw(axes: Axes, label: str) -> None:
        for method, marker in zip(evidence.methods, "os^", strict=False):
            style = {"color": _SOLVERS.get(method, PALETTE[0]), "marker": marker, "markersize": 4}
            for seconds in evidence.curves("seconds_curve", dataset=label, method=method):
                axes.plot(levels[: len(seconds)], seconds, label=method, **style)
        axes.invert_xaxis()

    return _one_row(evidence, draw, "accuracy", "seconds of the solver")


_STYLES = {
    "CW": (0, "-"), "CW-1": (0, ":"), "MultiBoost": (1, "-"), "MultiBoost-1": (1, ":"),
    "MO corrective": (2, "-"), "Ada.MO": (2, ":"), "MH corrective": (4, "-"), "Ada.MH": (4, ":"),
}  # fmt: skip


def draw_pairs(study: Study) -> Figure:
    """Draw the test errors of the eight boosters: color is loss and sharing, dots are stage-wise."""
    styles = {name: {"color": PALETTE[k], "linestyle": line} for name, (k, line) in _STYLES.items()}
    return _draw_errors(study, "pairs", "pair_points", styles)


def draw_trees(study: Study) -> Figure:
    """Draw the test errors of the methods of figure 1 over trees of depth 2."""
    return _draw_errors(study, "trees", "tree_points", {name: {"color": c} for name, c in COLORS.items()})


def _draw_errors(study: Study, exhibit: str, points: str, styles: dict[str, dict[str, object]]) -> Figure:
    evidence, x = study.evidence(exhibit), study.protocol(exhibit).get(points)

    def draw(axes: Axes, label: str) -> None:
        for method in evidence.methods:
            curves = evidence.curves("curve", dataset=label, method=method)
            if len(curves):
                draw_band(axes, x, curves, method, **styles[method])

    return _one_row(evidence, draw, "iterations")


def draw_learning(study: Study) -> Figure:
    """Draw the test error against the size of the training set."""
    evidence = study.evidence("learning")

    def draw(axes: Axes, label: str) -> None:
        for method in evidence.methods:
            errors, sizes = (evidence.curves(m, dataset=label, method=method) for m in ("error", "sizes"))
            if len(errors):
                draw_band(axes, sizes[0], errors, method, color=COLORS[method])

    return _one_row(evidence, draw, "training samples")


def draw_stopping(study: Study) -> Figure:
    """Draw the test error, and the rounds, where the relative gap first is below a level."""
    evidence, levels = study.evidence("stopping"), study.protocol("stopping").get("gap_levels")
    rows = {"gap_errors": "test error (%)", "gap_rounds": "rounds"}
    styles = {
        method: {"color": color, "marker": "o", "markersize": 3}
        for method, color in zip(evidence.methods, PALETTE, strict=False)
    }
    return _two_rows(evidence, levels, rows, "relative duality gap", styles, inverted=True)


def draw_unlimited(study: Study) -> Figure:
    """Draw test error and seconds of MultiBoost by L-BFGS-B, all rounds of it, and by Newton steps."""
    rows = {"curve": "test error (%)", "seconds_curve": "seconds"}
    styles = {name: {"color": _SOLVERS[name]} for name in ("L-BFGS-B", "Newton")}
    evidence, points = study.evidence("unlimited"), study.protocol("unlimited").get("checkpoints")
    return _two_rows(evidence, points, rows, "iterations", styles)


def _two_rows(
    evidence: Evidence,
    x: Sequence[float],
    rows: dict[str, str],
    xlabel: str,
    styles: dict[str, dict[str, object]],
    *,
    inverted: bool = False,
) -> Figure:
    """Return a figure with two metrics of each set, on logarithmic axes; a strip if the scale runs none."""
    labels = list(evidence.datasets)
    if not labels:
        return nothing()
    figure, panels = subplots(2, len(labels), size=(max(2.8 * len(labels), 4.5), 4.6), squeeze=False)
    for column, label in zip(panels.T, labels, strict=True):
        for axes, metric in zip(column, rows, strict=True):
            for method, style in styles.items():
                curves = evidence.curves(metric, dataset=label, method=method)
                if len(curves):
                    draw_band(axes, x, curves, method, **style)
            axes.set(xscale="log", yscale="log")
            if inverted:
                axes.invert_xaxis()
            _say_waiting(axes)
        column[0].set(title=label)
        column[1].set(xlabel=xlabel)
    for axes, name in zip(panels[:, 0], rows.values(), strict=True):
        axes.set_ylabel(name)
    return finish(figure, panels)


# CW beside MultiBoost at equal terms: paired differences after 500 iterations, and by number of stumps

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


def unavailable_sets() -> Table:
    """Return the paper's sets that were not run, and which set of the same figure was."""
    rows = (
        ("PASCAL07", "figure 3", "the features of Guillaumin and others are not to be had from a package",
         "CIFAR10 GIST"),
        ("LabelMe", "figure 3", "LabelMe-12-50k is not to be had from a package", "CIFAR10 GIST"),
        ("SUN", "figure 4", "the 25 categories are not named", "SCENE15"),
    )  # fmt: skip
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    return Table(("set", "exhibit", "why not", "run in this figure"), cells, "Sets that could not be run.")
