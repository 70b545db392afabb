"""Drawings of linli2005: its framework, the weights of its ensembles, and charts of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch

from kernsemble.report.comparisons import holm, mean_and_spread, paired_p_value
from kernsemble.report.figures import (
    PALETTE,
    draw_band,
    draw_boundary,
    draw_classes,
    draw_error_bars,
    subplots,
)
from kernsemble.report.published import own_cells
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.report.words import span
from kernsemble.trials.bench import Draw
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from linli2005.claims import KERNELS, PERCEPTRONS, STUMPS, z_scores
from linli2005.facts import BASES, CELLS, UPDATED, four_cells, updates_beside_printed
from linli2005.regularized import UPDATES
from linli2005.theory import perceptron_weights, stump_weights
from linli2005.thousand import LEARNERS, SIZES, at_sizes
from linli2005.trials import (
    DRAWN_METHODS,
    HALF_WIDTH,
    N_CELLS,
    PLANE_SET,
    REAL_SETS,
    DataProtocol,
    class_densities,
    draw,
    plane_points,
    reading_applies,
    sides_of,
)

METHODS = (*KERNELS, *STUMPS[1:], *PERCEPTRONS[1:])


def draw_sampling(study: Study) -> Figure:
    """Draw the error of sampled kernels, measured and predicted."""
    sampling = study.evidence("sampling")
    counts = 2.0 ** np.array(study.protocol("sampling")["log2_counts"])
    figure, axes = subplots(size=(5, 3.4))
    for method, color in zip(sampling.methods, PALETTE, strict=False):
        label = sampling.datasets[0]
        predicted = sampling.curves("predicted", dataset=label, method=method).mean(axis=0)
        squares = sampling.curves("error", dataset=label, method=method) ** 2
        axes.plot(counts, np.sqrt(squares.mean(axis=0)), "o", color=color, label=method)
        axes.plot(counts, predicted, color=color, linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="sampled hypotheses J")
    axes.set_ylabel(r"root mean square error / $\Delta$")
    axes.legend(title="points: measured, lines: predicted")
    return figure


def draw_disagreement(study: Study) -> Figure:
    """Draw how far the boundaries of figure 2 are from Bayes, over all draws."""
    evidence = study.evidence("figure2")
    figure, axes = subplots(1, 3, size=(10, 2.8), sharey=True)
    titles = {"area": "area where they differ", "probability": "probability of a point there"}
    titles |= {"excess": "excess error"}
    for panel, (metric, title) in zip(axes, titles.items(), strict=True):
        for k, (method, values) in enumerate(
            zip(evidence.methods, evidence.array(metric)[:, 0].T, strict=True)
        ):
            _draw_box(panel, values, k + 1, PALETTE["Perc" in method], filled=method.startswith("SVM"))
        panel.set(title=title, xlabel="percent", xlim=(0, None))
    axes[0].set_yticks(range(1, len(evidence.methods) + 1), evidence.methods)
    axes[0].invert_yaxis()
    return figure


def _draw_box(axes: Axes, values: np.ndarray, place: int, color: str, *, filled: bool) -> None:
    """Draw quartiles, median and range of some values, lying, in one color."""
    line, parts = {"color": color}, ("whiskerprops", "capprops")
    look = dict.fromkeys(parts, line) | {"medianprops": line | {"linewidth": 2}}
    look |= {"boxprops": {"edgecolor": color, "facecolor": to_rgba(color, 0.35) if filled else "none"}}
    look |= {"flierprops": {"markeredgecolor": color, "markersize": 3}}
    axes.boxplot(values, positions=[place], orientation="horizontal", widths=0.6, patch_artist=True, **look)


def draw_where(study: Study) -> Figure:
    """Draw the share of each block of the square on which a classifier and Bayes disagree, over draws."""
    evidence = study.evidence("where")
    axis, points = plane_points()
    first, second = class_densities(points)
    edge = np.linspace(-HALF_WIDTH, HALF_WIDTH, N_CELLS // 10 + 1)
    figure, axes = subplots(1, len(DRAWN_METHODS), size=(10.5, 3), sharey=True)
    for panel, name in zip(axes, DRAWN_METHODS, strict=True):
        share = evidence.curves("share", dataset=PLANE_SET, method=name)
        if len(share):
            blocks = share.mean(axis=0).reshape(len(edge) - 1, -1)
            image = panel.pcolormesh(edge, edge, blocks, cmap="Greys", vmin=0, vmax=100, rasterized=True)
        draw_boundary(panel, (axis, axis), np.log(first / second), color=PALETTE[2], shade=False)
        panel.set(title=name, aspect="equal", xlabel="feature 1")
    axes[0].set_ylabel("feature 2")
    if evidence.is_complete(PLANE_SET, *DRAWN_METHODS):
        figure.colorbar(image, ax=axes, label="disagreement (%)", shrink=0.8)
    return figure


def draw_selection(study: Study) -> Figure:
    """Draw the seconds of parameter selection, by dataset and method; LIBSVM's with open markers."""
    evidence = study.evidence("selection")
    figure, axes = subplots(size=(7.5, 4))
    for method in evidence.methods:
        solver, kernel = method.split("-")
        marker, color = {"Stump": ("o", PALETTE[0]), "Perc": ("s", PALETTE[1]), "Gauss": ("D", PALETTE[2])}[
            kernel
        ]
        samples = [evidence.sample("selection_seconds", dataset=d, method=method) for d in evidence.datasets]
        means, bars = ([getattr(sample, name) for sample in samples] for name in ("mean", "se"))
        look = {"fmt": marker, "color": color, "markersize": 5, "elinewidth": 1}
        look["markerfacecolor"] = color if solver == "SVM" else "white"
        axes.errorbar(means, range(len(samples)), xerr=bars, label=method, **look)
    axes.set(xscale="log", xlabel="seconds for parameter selection")
    axes.set_yticks(range(len(evidence.datasets)), evidence.datasets)
    axes.invert_yaxis()
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_base_learners(study: Study) -> Figure:
    """Draw the test error of AdaBoost over perceptrons for several base learners; dotted: printed."""
    evidence, cells = study.evidence("base_learner"), {(c.row, c.column): c for c in own_cells(study)}
    names, labels = evidence.methods, evidence.datasets
    figure, axes = subplots(1, len(labels), size=(2.2 * len(labels) + 2.5, 3.2), sharey=True, squeeze=False)
    for panel, label in zip(axes[0], labels, strict=True):
        curves = [evidence.curves("error", dataset=label, method=name) for name in names]
        looks = zip(study.protocol("base_learner")["rounds"], "os", ("#999999", "black"), strict=True)
        for k, (rounds, marker, color) in enumerate(looks):
            means, bars = zip(*(_mean_and_error(curve[:, k]) for curve in curves), strict=True)
            look = {"fmt": marker, "color": color, "label": f"T = {rounds}"}
            panel.errorbar(means, range(len(names)), xerr=bars, **look)
            printed = float(cells[UPDATED.get(label, label), f"AB-Perc-{rounds}"].mean)
            panel.axvline(printed, color=color, linestyle=":", linewidth=1)
        panel.set(title=label, xlabel="test error (%)")
        panel.set_yticks(range(len(names)), names)
    axes[0, 0].invert_yaxis()
    axes[0, -1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return mean and standard error; nan for what is not there."""
    mean = values.mean() if len(values) else np.nan
    return mean, values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan


def draw_rounds(study: Study) -> Figure:
    """Draw AdaBoost's test error against the number of rounds, and the machines' errors beside it.

    The dashes of the two machines alternate, so that both are seen where the errors coincide.
    """
    evidence, tables = study.evidence("rounds"), study.evidence("table1")
    labels, rounds = evidence.datasets, study.protocol("rounds")["rounds"]
    n_rows = -(-len(labels) // 3)
    figure, axes = subplots(n_rows, 3, size=(9, 2.7 * n_rows), squeeze=False, sharex=True)
    for panel in axes.flat[len(labels) :]:
        panel.axis("off")
    for panel, label in zip(axes.flat, labels, strict=False):
        for k, (method, color) in enumerate(zip(("AB-Stump", "AB-Perc"), PALETTE, strict=False)):
            curves = evidence.curves("error", dataset=label, method=method)
            machine = tables.sample("error", dataset=label, method=method.replace("AB", "SVM"))
            if len(curves) and machine.complete:
                draw_band(panel, rounds, curves, method, color=color)
                level = machine.values[: len(curves)].mean()
                name = f"{method.replace('AB', 'SVM')}, infinite"
                panel.axhline(level, color=color, linestyle=(5 * k, (5, 5)), linewidth=1.2, label=name)
        panel.set(title=label, xscale="log", ylabel="test error (%)", xlabel="rounds T")
    axes[0, 0].legend()
    return figure


def draw_modern(study: Study) -> Figure:
    """Draw how far the errors of other machines and tree ensembles are above SVM-Perc's, on the same runs."""
    tables, trees = study.evidence("table1"), study.evidence("modern")
    labels = [label for label in trees.datasets if label in tables.datasets]
    figure, axes = subplots(size=(7.5, 5.6))
    series = [(tables, "SVM-Stump", "o", 0), (tables, "SVM-Gauss", "D", 2)]
    series += [(trees, name, mark, k) for name, mark, k in zip(trees.methods, "^v<", (3, 4, 5), strict=False)]
    axes.axvline(0, color=PALETTE[1], linewidth=1, label="SVM-Perc")
    for row, label in enumerate(labels):
        own, first = (
            evidence.sample("error", dataset=label, method=name).values
            for evidence, name in ((tables, "SVM-Perc"), (trees, trees.methods[0]))
        )
        for k, (evidence, name, marker, color) in enumerate(series):
            errors = evidence.sample("error", dataset=label, method=name).values
            if runs := min(map(len, (errors, own, first))):
                mean, bar = _mean_and_error(errors[:runs] - own[:runs])
                look = {"color": PALETTE[color], "markersize": 4, "elinewidth": 1}
                place, said = row + 0.14 * (k - 2), name if row == 0 else None
                axes.errorbar(mean, place, xerr=bar, fmt=marker, label=said, **look)
    axes.set(xlabel="points of test error above SVM-Perc")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


LOOKS = {  # a color for each kind of hypotheses, as in the other figures
    "SVM-Stump": (0, "-"),
    "SVM-Perc, 64 spread": (1, "-"),
    "SVM-Perc, 16 generated": (1, "--"),
    "AB-Stump-100": (0, ":"),
    "AB-Stump-1000": (0, "--"),
    "HistGradientBoosting": (4, "-"),
    "LightGBM": (5, "-"),
}


def draw_thousand(study: Study) -> Figure:
    """Draw test errors and seconds of training against the number of rows; gray: the rule of Bayes."""
    evidence = study.evidence("thousand")
    labels = evidence.datasets or ("",)
    figure, axes = subplots(2, len(labels), size=(3.2 * len(labels), 5.2), sharex=True, squeeze=False)
    for (top, bottom), label in zip(axes.T, labels, strict=True):
        for learner in LEARNERS:
            color, style = LOOKS[learner]
            for panel, metric in ((top, "error"), (bottom, "fit_seconds")):
                found = [
                    evidence.sample(metric, dataset=label, method=name).values for name in at_sizes(learner)
                ]
                rows = [n for n, values in zip(SIZES, found, strict=True) if len(values)]
                if rows:
                    runs = min(filter(None, map(len, found)))
                    values = np.column_stack([values[:runs] for values in found if len(values)])
                    look = {"color": PALETTE[color], "linestyle": style, "markersize": 3, "linewidth": 1}
                    draw_error_bars(panel, rows, values, learner, **look)
        bayes = evidence.sample("error", dataset=label, method="Bayes").values
        if len(bayes):
            top.axhline(bayes.mean(), color="#888888", linestyle="--", linewidth=1)
        top.set(title=label, xscale="log")
        bottom.set(xlabel="training rows", yscale="log")
    axes[0, 0].set_ylabel("test error (%)")
    axes[1, 0].set_ylabel("seconds of training")
    handles, names = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure


def draw_finite(study: Study) -> Figure:
    """Draw machines on sampled hypotheses: test error, and disagreement with the infinite machine."""
    evidence = study.evidence("finite")
    counts, labels = study.protocol("finite")["counts"], evidence.datasets
    figure, axes = subplots(2, len(labels), size=(2.1 * len(labels) + 1, 4.6), sharex=True, squeeze=False)
    for (top, bottom), label in zip(axes.T, labels, strict=True):
        for method, color in zip(evidence.methods, PALETTE, strict=False):
            errors = evidence.curves("error", dataset=label, method=method)
            draw_band(top, counts, errors[:, :-1], method, color=color)
            top.axhline(errors[:, -1].mean(), color=color, linestyle="--", linewidth=1)
            differs = evidence.curves("disagreement", dataset=label, method=method)
            draw_band(bottom, counts, differs, method, color=color)
        top.set(title=label, xscale="log")
        bottom.set(xlabel="sampled hypotheses J", ylim=(0, None))
    axes[0, 0].set_ylabel("test error (%)")
    axes[1, 0].set_ylabel("disagreement (%)")
    axes[0, 0].legend()
    return figure


def draw_z_scores(study: Study) -> Figure:
    """Draw z of all compared cells, and of ringnorm's when its second mean is moved nearer."""
    dots: dict[str, list[tuple[float, float]]] = {}
    for best, names in enumerate((("the 12 other sets", "ringnorm, mean of norm 2"), ("", RINGS_BEST))):
        for (label, method), z in z_scores(study, best=bool(best)).items():
            name = names[label.startswith("ringnorm")]
            dots.setdefault(name, []).append((z, METHODS.index(method)))
    figure, axes = subplots(size=(8, 3.8))
    axes.axvspan(-2, 2, color="#EEEEEE", zorder=0)
    shown = ("the 12 other sets", "ringnorm, mean of norm 2", RINGS_BEST)
    for name, shift, color in zip(shown, (-0.2, 0.05, 0.25), PALETTE, strict=False):
        if not (places := dots.get(name)):  # a small scale may have no ringnorm
            continue
        x, y = np.array(places).T
        axes.scatter(x, y + shift, s=18, color=color, label=name, linewidths=0, alpha=0.8)
    axes.set_xscale("symlog", linthresh=4, linscale=2)  # a few are far out, all others near 0
    ticks = [-20, -10, -4, -2, 0, 2, 4]
    axes.set_xticks(ticks, [str(tick).replace("-", "\N{MINUS SIGN}") for tick in ticks])
    axes.set(yticks=range(len(METHODS)), yticklabels=METHODS)
    axes.set_xlabel("z = (ours − printed) / standard error, logarithmic beyond 4")
    axes.set_ylim(len(METHODS) - 0.5, -0.5)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


RINGS_BEST = "ringnorm, mean of norm 1"


def _show(
    study: Study,
    name: str,
    header: tuple[str, ...],
    places: dict[str, tuple],
    row: Callable[..., list[str]],
    caption: str,
) -> Table:
    """Save a table with ``row(*place)`` for each named place; the row of what waits is empty."""
    body = []
    for label, place in places.items():
        try:
            texts = row(*place)
        except IncompleteEvidenceError:
            texts = [""] * (len(header) - 1)
        body.append(tuple(map(Cell, (label, *texts))))
    table = Table(header, tuple(body), f"{scale_note(study)}{caption}".strip())
    save_table(study, table, name)
    return table


def _said(values: np.ndarray) -> str:
    """Write mean and standard error; a zero error of some runs is said, unless all values are zero."""
    if len(values) < 2:
        return mean_and_spread(values.mean(), 0.0)
    if values.any() and np.ptp(values) <= 1e-9 * np.abs(values).max():
        return f"{values.mean():.2f} ± 0"
    return mean_and_spread(values.mean(), values.std(ddof=1) / len(values) ** 0.5)


def _over(evidence: Evidence, metric: str, labels: Iterable[str], methods: Iterable[str]) -> str:
    """Say over how many runs a table is: the least and the most of its sets, of each its largest number."""
    methods = tuple(methods)
    found = [max(len(evidence.runs(metric, d, m, partial=True)) for m in methods) for d in labels]
    runs = sorted(filter(None, found)) or [0]
    return f"{span(runs)} run{'s' * (runs[-1] != 1)}"


def _printed(study: Study, label: str, method: str) -> str:
    cell = next(c for c in own_cells(study) if (c.row, c.column) == (label, method))
    return f"{cell.mean} ± {cell.spread}"


def show_ringnorm(study: Study) -> Table:
    """Return the printed cells of ringnorm beside both readings of its second mean."""
    evidence, declared, best = study.evidence("table1"), z_scores(study), z_scores(study, best=True)

    def row(label: str, method: str) -> list[str]:
        texts, near = [_printed(study, label, method)], label.replace("ringnorm", "ringnorm-near")
        for name, z in ((label, declared), (near, best)):
            texts += [_said(evidence.array("error", [name], [method]).ravel()), f"{z[label, method]:.1f}"]
        return texts

    places = {", ".join(place): place for place in product(("ringnorm", "ringnorm-n"), METHODS)}
    header = ("cell", "printed", "declared: norm 2", "z, norm 2", "best reading: norm 1", "z, norm 1")
    over = _over(evidence, "error", ("ringnorm", "ringnorm-near"), METHODS)
    caption = f"Test error ± standard error over {over}, by the norm of the mean of class 2."
    return _show(study, "ringnorm", header, places, row, caption)


def show_updates(study: Study) -> Table:
    """Return AdaBoost's errors by the number of updates beside the printed ones; a mark: |z| of at most 2."""

    def row(label: str, place: int, rounds: int) -> list[str]:
        found = updates_beside_printed(study, label, place)
        texts = [f"{mean_and_spread(mean, se)}{' ✓' if abs(z) <= 2 else ''}" for mean, se, z in found]
        return [_printed(study, UPDATED[label], f"AB-Perc-{rounds}"), *texts]

    places = {
        f"{label}, T = {rounds}": (label, k, rounds)
        for label in UPDATED
        for k, rounds in enumerate(study.protocol("updates")["rounds"])
    }
    over = _over(study.evidence("updates"), "error", UPDATED, UPDATES)
    caption = f"Test error ± standard error over {over}. ✓ within two standard errors of the printed one."
    return _show(study, "updates", ("set", "printed", *UPDATES), places, row, caption)


def show_paired(study: Study) -> Table:
    """Return SVM-Perc's error minus SVM-Gauss's on the real sets, run by run, with paired t-tests."""
    evidence = study.evidence("table1")
    done = [label for label in REAL_SETS if evidence.is_complete(label, *KERNELS[1:])]
    errors = {label: evidence.array("error", [label], KERNELS[1:])[:, 0].T for label in done}
    p = np.array([paired_p_value(*pair) for pair in errors.values()])
    places = {
        label: (errors[label], raw, after)
        for label, raw, after in zip(done, p, holm(p) if done else p, strict=True)
    }
    over = _over(evidence, "error", done, KERNELS[1:])
    caption = f"Points of test error, mean ± standard error over {over}; p of the paired t-test."
    header = ("set", "SVM-Perc - SVM-Gauss", "p", "p, Holm")
    row = lambda both, raw, after: [_said(np.subtract(*both)), f"{raw:.4f}", f"{after:.3f}"]  # noqa: E731
    return _show(study, "paired", header, places, row, caption)


def show_beside(study: Study, exhibit: str, pairs: dict[str, str], said: str = "") -> Table:
    """Return errors of an exhibit's methods beside those of machines of the tables, on the same runs.

    ``said``: what to add to the names of the methods.
    """
    evidence, table = study.evidence(exhibit), study.evidence("table1")

    def row(label: str) -> list[str]:
        texts = []
        for method, machine in pairs.items():
            if evidence.is_complete(label, method):
                own = np.array(evidence.runs("error", label, method))
                texts += [_said(own), _said(table.array("error", [label], [machine], len(own)).ravel())]
            else:
                texts += ["", ""]
        return texts

    header = ("set", *(name for method, machine in pairs.items() for name in (f"{method}{said}", machine)))
    over = _over(evidence, "error", evidence.datasets, pairs)
    caption = f"Test error ± standard error over {over}. {evidence.status}"
    places = {label: (label,) for label in evidence.datasets}
    return _show(study, f"{exhibit}_error", header, places, row, caption)


def show_norms(study: Study) -> Table:
    """Return the errors of two norms over J hypotheses and over all."""
    evidence, drawn = study.evidence("norms"), study.protocol("norms")["n_drawn"]
    places = {f"{label}, {base}": (study, label, base) for base in BASES for label in evidence.datasets}
    over = _over(evidence, "error", evidence.datasets, evidence.methods)
    caption = (
        f"Test error ± standard error over {over}, the same in all columns. J: {drawn} drawn hypotheses."
    )
    row = lambda *place: list(map(_said, four_cells(*place).T))  # noqa: E731
    return _show(study, "norms", ("set", *CELLS), places, row, caption)


def show_eigenvalues(study: Study) -> Table:
    """Return the smallest eigenvalues of the Gram matrices."""
    evidence = study.evidence("theorems")
    places = {label: (label,) for label in evidence.datasets}
    over = _over(evidence, "eigenvalue", evidence.datasets, evidence.methods)
    caption = (
        "Smallest eigenvalue of the Gram matrix, in units of Δ (the constant of the kernel); mean ± standard "
        f"error over {over}. {evidence.status}"
    )
    header = ("set", *(f"{name} kernel" for name in evidence.methods))
    row = lambda label: list(map(_said, evidence.array("eigenvalue", [label])[:, 0].T))  # noqa: E731
    return _show(study, "theorems_eigenvalue", header, places, row, caption)


def show_readings(study: Study, machine: str, name: str) -> Table:
    """Return by how much each other reading of the protocol changes the test error of a machine."""
    evidence = study.evidence("protocol")

    def text(label: str, reading: str) -> str:
        if not reading_applies(reading, label):
            return "–"
        return _said(evidence.array(machine, [label], [reading]).ravel())

    row = lambda label: [text(label, reading) for reading in evidence.methods]  # noqa: E731
    places = {label: (label,) for label in evidence.datasets}
    over = _over(evidence, machine, evidence.datasets, evidence.methods)
    caption = (
        f"Change of the test error of {machine} in points, mean ± standard error over {over}. "
        f"–: the reading does not concern the set. {evidence.status}"
    )
    return _show(study, name, ("set", *evidence.methods), places, row, caption)


CHOICES = {  # what the paper leaves open, in words
    "scaling": "scaling of the features",
    "missing_votes": "votes84: a vote that is neither yes nor no",
    "folds": "folds of the cross-validation",
    "ties": "which of equally good parameters",
    "perfect_error": "AdaBoost: error that a perfect hypothesis counts as (1/1001)",
    "rcd_updates": "random coordinate descent: number of updates",
    "rcd_start": "random coordinate descent: start",
    "rcd_directions": "random coordinate descent: directions",
}


STEPS = (
    "1  training set;\n$\\mathcal{H}$ with negations\nand a constant",
    "2  kernel that\nembodies $\\mathcal{H}$",
    "3  parameters,\nsuch as $C$",
    "4  solve $(P_2)$\nfor $\\lambda$ and $b$",
    "5  classifier =\nensemble over $\\mathcal{H}$",
)


def first_draw(study: Study) -> Draw:
    """Return the data of threenorm in the plane, trial 0."""
    named = study.protocol("figure2")
    protocol = DataProtocol(**{name: named[name] for name in ("sizes", "scaling", "missing_votes")})
    return draw(Trial(study.key, "figure2", PLANE_SET, "drawing", 0), protocol)


def draw_steps(axes: Axes) -> None:
    """Draw the five steps of the framework (figure 1) as boxes."""
    axes.set(xlim=(0, 10), ylim=(0, 1))
    axes.axis("off")
    look = {"boxstyle": "round,pad=0.03,rounding_size=0.1", "facecolor": "#EAF2F8", "edgecolor": PALETTE[0]}
    for k, text in enumerate(STEPS):
        left = 2.03 * k + 0.05
        axes.add_patch(FancyBboxPatch((left, 0.06), 1.7, 0.88, mutation_aspect=0.5, **look))
        axes.text(left + 0.85, 0.5, text, ha="center", va="center", fontsize=9.5, linespacing=1.5)
        if k < len(STEPS) - 1:
            arrow = {"arrowstyle": "-|>", "color": PALETTE[0], "lw": 1.5}
            axes.annotate("", (left + 2.02, 0.5), (left + 1.73, 0.5), arrowprops=arrow)


def draw_stump_weights(axes: Axes, X: np.ndarray, beta: np.ndarray) -> None:
    """Draw the weights of the stumps against their threshold, a curve for each feature."""
    for d, color in zip(range(X.shape[1]), ("black", "#888888"), strict=False):
        margin = 0.1 * np.ptp(X[:, d])
        cuts, steps = stump_weights(X[:, d], beta, X[:, d].min() - margin, X[:, d].max() + margin)
        axes.stairs(steps, cuts, label=f"feature {d + 1}", color=color, linewidth=1.5)
    axes.axhline(0, color="#888888", linewidth=0.6)
    axes.set(title="Weights of the stumps", xlabel=r"threshold $\alpha$", ylabel=r"weight $g_d(\alpha)$")
    axes.legend()


def draw_perceptron_weights(axes: Axes, X: np.ndarray, beta: np.ndarray) -> None:
    """Draw the weight of the perceptrons of the plane against direction and threshold."""
    angles = np.linspace(0, np.pi, 181)
    radius = 1.05 * np.sqrt((X**2).sum(axis=1).max())
    thresholds = np.linspace(-radius, radius, 201)
    weights = perceptron_weights(X, beta, angles, thresholds)
    limit = np.abs(weights).max()
    image = axes.pcolormesh(
        np.degrees(angles), thresholds, weights.T, cmap="RdBu", vmin=-limit, vmax=limit, rasterized=True
    )
    axes.figure.colorbar(image, ax=axes, label="weight")
    axes.set(title="Weights of the perceptrons", xticks=range(0, 181, 45))
    axes.set(xlabel=r"direction of $\theta$ (degrees)", ylabel=r"threshold $\alpha$")
    axes.grid(visible=False)


def draw_boundaries(study: Study) -> Figure:
    """Draw figure 2: the boundaries of four algorithms on trial 0, with that of Bayes."""
    plane, data = study.evidence("plane"), first_draw(study)
    axis, points = plane_points()
    first, second = class_densities(points)
    figure, axes = subplots(2, 2, size=(6.4, 6.7), sharex=True, sharey=True)
    for panel, name in zip(axes.flat, DRAWN_METHODS, strict=True):
        for lengths in plane.runs("lengths", PLANE_SET, name, partial=True)[:1]:
            draw_boundary(panel, (axis, axis), 2.0 * sides_of(lengths) - 1.0)
        draw_boundary(panel, (axis, axis), np.log(first / second), color=PALETTE[2], shade=False)
        draw_classes(panel, data.X, data.y, size=6)
        panel.set(title=name, aspect="equal", xlim=(-4.5, 4.5), ylim=(-4.5, 4.5))
        panel.set(xlabel="feature 1", ylabel="feature 2")
        panel.label_outer()
    lines = [Line2D([], [], color=color) for color in ("black", PALETTE[2])]
    points, classes = axes[0, 0].get_legend_handles_labels()
    names = ("boundary of the classifier", "boundary of Bayes", *(f"class {sign}" for sign in classes))
    figure.legend([*lines, *points], names, loc="outside lower center", ncols=4)
    return figure
