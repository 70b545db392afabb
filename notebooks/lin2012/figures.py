"""The drawings of lin2012's evidence, and two tables; a set whose trials wait has an empty panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kernsemble.report.comparisons import mean_and_spread, paired_p_value
from kernsemble.report.figures import METHOD_COLORS, PALETTE, draw_band, subplots
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.report.words import span
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from lin2012.claims import (
    FIGURES,
    FIVE,
    N_CLASSES,
    PAPER_SOLVER,
    Sets,
    at_common_error,
    checkpoints_of,
    common_level,
    iterations_to_common_level,
    search_ratio,
    sets_of,
    time_ratios,
)
from lin2012.facts import BOTH, WHEN, early_choice, where_both_end
from lin2012.selection import COSTS, chosen_curves
from lin2012.trials import PAPER_SETS

COLORS = {
    "CW": PALETTE[0], "CW-1": PALETTE[5], PAPER_SOLVER: METHOD_COLORS["MultiBoost"],
    **{name.replace("AdaBoost", "Ada"): color for name, color in METHOD_COLORS.items()},
}  # fmt: skip
CHOICES = {  # what the paper leaves open, in words
    "tree_depth": "weak learner: stumps; depth of the trees beside them",
    "fcd": "coordinate descent of CW in figures 1 to 5",
    "lbfgsb_limit": "seconds after which L-BFGS-B ends",
    "search": "data and rounds by which C is selected",
    "coloring": "AdaBoost.ECC: coloring of a round",
    "mh_stumps": "AdaBoost.MH: stumps in a round",
    "code": "AdaBoost.MO: code",
}
# Coordinate descent is CW (once through the new weights: CW-1), darker the longer; L-BFGS-B is MultiBoost.
_SOLVERS = {
    "FCD 1": COLORS["CW-1"], "FCD 2": COLORS["CW"], "FCD 5": "#1F4E79", "FCD 10": "#0B2545",
    "L-BFGS-B": COLORS[PAPER_SOLVER], "Newton": "#888888",
}  # fmt: skip
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


def _grid(
    labels: Sequence[str],
    draw: Callable[[np.ndarray, str], None],
    rows: Sequence[str],
    xlabel: str,
    *,
    size: tuple[float, float] = (2.9, 2.4),
    xscale: str = "log",
) -> Figure:
    """Return a figure with a column for each set and a row for each name; a strip if the scale runs none.

    ``draw`` fills a column; what it leaves empty waits. ``size``: of a panel.
    """
    if not labels:
        return nothing()
    size = max(size[0] * len(labels) + 0.3, 4.5), size[1] * len(rows)
    figure, panels = subplots(len(rows), len(labels), size=size, squeeze=False)
    for column, label in zip(panels.T, labels, strict=True):
        for axes in column:
            axes.set(xscale=xscale, yscale="log")
        draw(column, label)
        for axes in column:
            _say_waiting(axes)
        column[0].set(title=label)
        column[-1].set(xlabel=xlabel)
    for axes, name in zip(panels[:, 0], rows, strict=True):
        axes.set_ylabel(name)
    return finish(figure, panels)


def draw_curves(study: Study, exhibit: str) -> Figure:
    """Draw a figure of the paper: test error, seconds in all, seconds in the solver against iterations."""
    evidence, checkpoints = study.evidence(exhibit), checkpoints_of(study)

    def draw(column: np.ndarray, label: str) -> None:
        for method in evidence.methods:
            timed, style = method == PAPER_SOLVER, {"color": COLORS[method], "linewidth": 1.3}
            shown = np.ones(len(checkpoints), dtype=bool)
            if timed and len(finished := evidence.sample("finished", dataset=label, method=method).values):
                shown, style["linestyle"] = checkpoints <= finished.min(), "--"  # as far as it came
            metrics = [None if timed else "curve", "seconds_curve"]
            metrics += ["solver_curve" if timed or method in THREE else None]
            for axes, metric in zip(column, metrics, strict=True):
                curves = evidence.curves(metric, dataset=label, method=method) if metric else ()
                if len(curves):
                    draw_band(axes, checkpoints[shown], curves[:, shown], method, **style)
        column[0].set(ylim=_error_limits(column[0]))

    rows = ("test error (%)", "seconds", "seconds in the solver")
    return _grid(_shown(evidence), draw, rows, "iterations", size=(3.1, 2.2), xscale="linear")


def _error_limits(*panels: Axes) -> tuple[float, float] | None:
    values = [line.get_ydata()[3:] for axes in panels for line in axes.lines]
    if not values:
        return None
    everything = np.concatenate(values)
    return 0.85 * max(everything.min(), 0.1), 1.1 * everything.max()


def draw_solvers(study: Study) -> Figure:
    """Draw figure 6: objective and seconds against iterations, excess over the optimum against seconds."""
    evidence, protocol = study.evidence("figure6"), study.protocol("figure6")
    checkpoints = np.array(protocol["checkpoints"])
    places = np.searchsorted(checkpoints, protocol["exact_points"])

    def draw(column: np.ndarray, label: str) -> None:
        for method in evidence.methods:
            late = "late_" if method == "L-BFGS-B" else ""
            rounds = evidence.sample(f"{late}rounds", dataset=label, method=method).values
            if not len(rounds):
                continue
            objective, excess, seconds = (
                evidence.curves(metric, dataset=label, method=method)
                for metric in (f"{late}objective", f"{late}excess", "seconds_curve")
            )
            shown = checkpoints <= rounds.min() if late else checkpoints > 0  # as far as it came
            style = {"color": _SOLVERS[method], "linewidth": 1.3}
            draw_band(column[0], checkpoints[shown], objective[:, shown], method, **style)
            draw_band(column[1], checkpoints[shown], seconds[:, shown], method, **style)
            x, y = seconds.mean(axis=0)[places], np.maximum(excess.mean(axis=0), _LEAST)
            dots = {"marker": "o", "markersize": 3, "label": method, **style}
            column[2].plot(x[shown[places]], y[shown[places]], **dots)
        column[0].set(xlabel="iterations")
        column[1].set(xlabel="iterations", xscale="linear")

    rows = ("objective (2)", "seconds", "objective / optimum - 1")
    return _grid(_shown(evidence), draw, rows, "seconds", size=(3.1, 2.4))


def _without_wine(evidence: Evidence) -> list[str]:
    """Return the sets without the small one, on which all lines are one; it alone where no other was run."""
    return [label for label in evidence.datasets if label != "wine"] or list(evidence.datasets)


def _one_row(
    evidence: Evidence, draw: Callable[[Axes, str], None], xlabel: str, ylabel: str = "test error (%)"
) -> Figure:
    """Return a figure with one panel for each set, on logarithmic axes."""
    labels, size = _without_wine(evidence), (2.9, 3.2)
    return _grid(labels, lambda column, label: draw(column[0], label), (ylabel,), xlabel, size=size)


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


_STYLES = {  # whose color, and whether all weights are solved anew
    "CW": ("CW", "-"), "CW-1": ("CW-1", ":"), "MultiBoost": ("MultiBoost", "-"),
    "MultiBoost-1": ("MultiBoost", ":"), "MO corrective": ("Ada.MO", "-"), "Ada.MO": ("Ada.MO", ":"),
    "MH corrective": ("Ada.MH", "-"), "Ada.MH": ("Ada.MH", ":"),
}  # fmt: skip
ERROR = {"curve": "test error (%)"}


def draw_pairs(study: Study) -> Figure:
    """Draw the test errors of the eight boosters: color is loss and sharing, dots are stage-wise."""
    styles = {name: {"color": COLORS[own], "linestyle": line} for name, (own, line) in _STYLES.items()}
    return _metrics(study, "pairs", "pair_points", ERROR, "iterations", styles)


def draw_trees(study: Study) -> Figure:
    """Draw the test errors of the methods of figure 1 over trees of depth 2."""
    styles = {name: {"color": color} for name, color in COLORS.items() if name != PAPER_SOLVER}
    return _metrics(study, "trees", "tree_points", ERROR, "iterations", styles)


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
    rows, look = {"gap_errors": "test error (%)", "gap_rounds": "rounds"}, {"marker": "o", "markersize": 3}
    methods = study.evidence("stopping").methods
    styles = {name: {"color": color, **look} for name, color in zip(methods, _SHADES, strict=False)}
    return _metrics(study, "stopping", "gap_levels", rows, "relative duality gap", styles, inverted=True)


def draw_unlimited(study: Study) -> Figure:
    """Draw test error and seconds of MultiBoost by L-BFGS-B, all rounds of it, and by Newton steps."""
    styles = {name: {"color": _SOLVERS[name]} for name in ("L-BFGS-B", "Newton")}
    rows, labels = ERROR | {"seconds_curve": "seconds"}, study.evidence("unlimited").datasets  # wine, too
    return _metrics(study, "unlimited", "checkpoints", rows, "iterations", styles, labels)


def _metrics(
    study: Study,
    exhibit: str,
    points: str,
    rows: dict[str, str],
    xlabel: str,
    styles: dict[str, dict[str, object]],
    labels: Sequence[str] | None = None,
    *,
    inverted: bool = False,
) -> Figure:
    """Draw metrics of an exhibit, a row each, against the points of a parameter."""
    evidence, x = study.evidence(exhibit), study.protocol(exhibit).get(points)

    def draw(column: np.ndarray, label: str) -> None:
        for axes, metric in zip(column, rows, strict=True):
            for method, style in styles.items():
                curves = evidence.curves(metric, dataset=label, method=method)
                if len(curves):
                    draw_band(axes, x, curves, method, **style)
            if inverted:
                axes.invert_xaxis()

    labels = _without_wine(evidence) if labels is None else labels
    return _grid(labels, draw, tuple(rows.values()), xlabel, size=(2.9, 3.2 if len(rows) == 1 else 2.3))


# CW beside MultiBoost at equal terms: paired differences after 500 iterations, and by number of stumps

THREE = ("CW", "CW-1", "MultiBoost")


def show_differences(study: Study) -> Table:
    """Return the test error of CW and of CW-1 minus that of MultiBoost, run by run, on the complete sets."""
    sets = _complete_sets(study)
    rows, runs = [], []
    for label in sets.places if sets else ():
        errors = sets.values("error", label, *THREE)
        cells = [Cell(label)]
        for k in range(2):
            difference = errors[:, k] - errors[:, 2]
            spread = difference.std(ddof=1) / len(difference) ** 0.5 if len(difference) > 1 else 0.0
            p = paired_p_value(errors[:, k], errors[:, 2])
            cells += [Cell(mean_and_spread(difference.mean(), spread)), Cell(_p_value(p))]
        rows.append(tuple(cells))
        runs.append(len(errors))
    over = f" over {span(runs)} runs" if runs else ""
    header = ("set", "CW - MultiBoost", "p", "CW-1 - MultiBoost", "p ")
    waiting = f" Waiting: {', '.join(sets.waiting)}." if sets and sets.waiting else ""
    caption = (
        f"{scale_note(study)}Points of test error after 500 iterations, mean ± standard error{over}; "
        f"p: paired t-test.{waiting}"
    )
    return _saved(study, "differences", header, rows, caption)


def _p_value(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


def show_iterations(study: Study) -> Table:
    """Return for each complete set the lowest error that five methods reach, and their iterations to it."""
    sets, rows = _complete_sets(study, *FIVE), []
    for label in sets.places if sets else ():
        curves = sets.values("curve", label, *FIVE)
        level, needed = (
            common_level(curves.mean(axis=0)),
            iterations_to_common_level(curves, checkpoints_of(study)),
        )
        rows.append(tuple(map(Cell, (label, f"{level:.1f}", *(f"{n}" for n in needed)))))
    caption = f"{scale_note(study)}Iterations to the lowest mean error (%) that all five come down to."
    return _saved(study, "iterations", ("set", "error", *FIVE), rows, caption)


def show_ratios(study: Study) -> Table:
    """Return for each complete set the seconds of MultiBoost over those of CW, and what both hold."""
    sets, rows = _complete_sets(study, *BOTH, PAPER_SOLVER), []
    for label in sets.places if sets else ():
        seconds = sets.values("seconds_curve", label, *BOTH)[:, :, -1]
        classes = sets.values("per_learner", label, *BOTH).mean(axis=0)
        texts = [f"{x:.1f}" for x in np.exp(np.log(time_ratios(sets, label)).mean(axis=0))]
        texts += [f"{np.mean(seconds[:, 1] / seconds[:, 0]):.1f}", f"{search_ratio(sets, label, 'CW'):.2f}"]
        texts += [f"{classes[0]:.2f} / {classes[1] / N_CLASSES[label]:.2f}", f"{classes[1]:.1f}"]
        texts += [f"{own:.0f} / {other:.0f}" for own, other in at_common_error(sets, label)]
        rows.append(tuple(map(Cell, (label, *texts))))
    header = ("set", "L-BFGS-B", "its solver", "Newton", "search", "share of weights", "classes a stump")
    caption = (
        f"{scale_note(study)}L-BFGS-B to Newton: seconds of MultiBoost over those of CW. Search: seconds of "
        "a search of CW over one of MultiBoost. Then CW / MultiBoost: weights that are not 0, as a share; in "
        "how many classes a stump of MultiBoost has one; iterations, weights that are not 0 and distinct "
        "stumps where both first reach the lowest error that both reach."
    )
    return _saved(study, "ratios", (*header, "iterations", "weights", "stumps"), rows, caption)


def _saved(
    study: Study, name: str, header: tuple[str, ...], rows: list[tuple[Cell, ...]], caption: str
) -> Table:
    table = Table(header, tuple(rows), caption)
    save_table(study, table, name)
    return table


def draw_learners(study: Study) -> Figure:
    """Draw the test error against the number of distinct stumps; those of different classes are different."""
    sets = _complete_sets(study)
    if not sets:
        return nothing()
    n_rows = -(-len(sets.places) // 5)
    n_columns = -(-len(sets.places) // n_rows)
    size = (max(2.9 * n_columns + 0.3, 4.5), 2.9 * n_rows + 0.3)
    figure, grid = subplots(n_rows, n_columns, size=size, squeeze=False)
    panels, unused = np.split(grid.ravel(), [len(sets.places)])
    for axes, label in zip(panels, sets.places, strict=True):
        stumps, errors = (np.moveaxis(sets.values(m, label, *THREE), 1, 0) for m in ("learners", "curve"))
        for method, x, curves in zip(THREE, stumps, errors, strict=True):
            draw_band(axes, x.mean(axis=0), np.maximum(curves, 0.1), method, color=COLORS[method])
        axes.set(title=label, xscale="log", yscale="log", xlabel="distinct stumps")
    for axes in unused:
        axes.axis("off")
    for axes in panels[::n_columns]:
        axes.set_ylabel("test error (%)")
    if not len(unused):
        return finish(figure, panels)
    _say_numbers(*panels)
    unused[0].legend(*panels[0].get_legend_handles_labels(), loc="center", fontsize=11)
    return figure


def _complete_sets(study: Study, *methods: str) -> Sets | None:
    try:
        return sets_of(study, *(methods or THREE))
    except IncompleteEvidenceError:
        return None


# C, and the last weights

_SHADES = ("#CCCCCC", "#999999", "#555555", "black")  # of the four values of C, from small to large


def draw_costs(study: Study, exhibit: str = "costs") -> Figure:
    """Draw the test errors of CW and MultiBoost for each C; the line is where figures 1 to 5 choose."""
    evidence, points = study.evidence(exhibit), study.protocol(exhibit)["checkpoints"]

    def draw(column: np.ndarray, label: str) -> None:
        for axes, name in zip(column, BOTH, strict=True):
            for C, color in zip(COSTS, _SHADES, strict=True):
                curves = evidence.curves("curve", dataset=label, method=f"{name}, C = {C}")
                if len(curves):
                    draw_band(axes, points, curves, f"C = {C}", color=color)
        limits = _error_limits(*column)
        for axes in column:
            if axes.lines:
                axes.axvline(early_choice(study), color="black", linestyle=":", linewidth=1.0)
                axes.set_ylim(limits)

    rows = tuple(f"{name}: test error (%)" for name in BOTH)
    return _grid(_without_wine(evidence), draw, rows, "iterations", size=(2.6, 2.5))


def draw_truncated(study: Study) -> Figure:
    """Draw true curves and those of truncated last weights, at the C selected after all rounds."""
    evidence, points = study.evidence("costs"), study.protocol("costs")["checkpoints"]

    def draw(axes: Axes, label: str) -> None:
        whole = evidence.is_complete(label, *evidence.methods)
        for name in BOTH if whole else ():
            for metric, line in (("curve", "-"), ("truncated", ":")):
                curves = chosen_curves(study, label, name, metric)
                said = name if metric == "curve" else f"{name}, last"
                draw_band(axes, points, curves, said, color=COLORS[name], linestyle=line)
        if limits := _error_limits(axes):
            axes.set_ylim(limits)

    return _one_row(evidence, draw, "iterations")


def show_map(study: Study, exhibit: str = "map") -> Table:
    """Return where CW and MultiBoost end on each set of an exhibit, with C chosen early or late."""
    rows, runs = [], []
    for label in _without_wine(study.evidence(exhibit)):
        try:
            end = where_both_end(study, label, exhibit)
        except IncompleteEvidenceError:
            continue
        texts = [label]
        for when in WHEN:
            texts += [" / ".join(end.C[when]), " / ".join(f"{error:.1f}" for error in end.errors[when])]
        texts += [" / ".join(f"{share:.2f}" for share in end.shares)]
        texts += [" / ".join(f"{n:.0f}" for n in pair) for pair in (end.dense, end.weights, end.stumps)]
        rows.append(tuple(map(Cell, texts)))
        runs.append(len(study.evidence(exhibit).runs("error", label, f"CW, C = {COSTS[0]}")))
    header = ("set", "C, chosen early", "error", "C, chosen late", "error ", "share of weights")
    told = "" if not runs else "A single run. " if max(runs) == 1 else f"Means of {span(runs)} runs. "
    caption = f"CW / MultiBoost. {told}Errors after all rounds; from share on, with the late choice."
    return _saved(
        study, exhibit, (*header, "iterations", "weights", "stumps"), rows, scale_note(study) + caption
    )


_TOLERANCES = {
    "FCD 1": COLORS["CW-1"], "FCD 2": COLORS["CW"], "L-BFGS-B, 1e-1": "#E8C4D4", "L-BFGS-B, 1e-3": "#CC8AA9",
    "L-BFGS-B, 1e-5": "#AA5580", "L-BFGS-B": COLORS[PAPER_SOLVER], "Newton": _SOLVERS["Newton"],
}  # fmt: skip


def draw_tolerances(study: Study) -> Figure:
    """Draw the objective over the lowest of all methods against seconds; darker: a smaller tolerance."""
    evidence = study.evidence("tolerances")

    def draw(axes: Axes, label: str) -> None:
        curves = {
            method: [
                evidence.curves(m, dataset=label, method=method) for m in ("seconds_curve", "late_objective")
            ]
            for method in evidence.methods
        }
        there = {method: pair for method, pair in curves.items() if len(pair[0])}
        best = min((objective.mean(axis=0).min() for _, objective in there.values()), default=1.0)
        for method, (seconds, objective) in there.items():
            above = np.maximum(objective.mean(axis=0) / best - 1.0, _LEAST)
            axes.plot(seconds.mean(axis=0), above, label=method, color=_TOLERANCES[method], linewidth=1.3)

    return _one_row(evidence, draw, "seconds", "objective / lowest - 1")


def draw_votes(study: Study) -> Figure:
    """Draw AdaBoost.MH with one stump a round and with one a class, and CW, on the same runs."""
    evidence, points = study.evidence("votes"), checkpoints_of(study)
    styles = {"one": "-", "one a class": ":"}

    def draw(axes: Axes, label: str) -> None:
        for method, line in styles.items():
            curves = evidence.curves("curve", dataset=label, method=method)
            if len(curves):
                draw_band(axes, points, curves, f"Ada.MH, {method}", color=COLORS["Ada.MH"], linestyle=line)
        if axes.lines:
            place = next(name for name in FIGURES if label in study.evidence(name).datasets)
            own = study.evidence(place).curves("curve", dataset=label, method="CW")[: len(curves)]
            draw_band(axes, points, own, "CW", color=COLORS["CW"])
            axes.set_ylim(_error_limits(axes))

    return _one_row(evidence, draw, "iterations")
