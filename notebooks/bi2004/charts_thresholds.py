"""Table 2's rates at other offsets, losses and thresholds: how many printed ones each reading explains."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.report.comparisons import mean_and_spread, z_score
from kernsemble.report.figures import subplots
from kernsemble.report.ledger import Verdict
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.evidence import Evidence, Sample
from kernsemble.trials.study import Study
from bi2004.charts import MODEL_COLORS, printed_numbers
from bi2004.trials import SMALL_CHOICES, SMALL_SETS

RATES = ("FP", "FN")
LOSSES = {
    "free": "offset free, sum of the losses (declared)",
    "penalized": "offset penalized",
    "none": "no offset",
    "free, C / n": "offset free, mean of the losses",
    "penalized, C / n": "offset penalized, mean of the losses",
    "free, balanced": "offset free, classes weigh alike",
}
RULES = {
    "share": "as many training points called positive as are",
    "mean": "mean score = mean label",
    "support": "offset averaged over all support vectors",
    "classes": "half way between the classes' mean scores",
    "extremes": "half way between the classes' extreme scores",
    "dropped": "offset left out of the prediction",
    "labels": "labels standardized like the features",
}
LIMIT = 2.0  # of |z|, as in the ledger

Printed = dict[tuple[str, str, str], float]


def show_readings(study: Study) -> Table:
    """Return for each reading how many printed rates it matches, and how far from them it is on average.

    A rate matches as in the ledger: our deviation over repetitions stands for that of the single printed
    cross-validation.
    """
    printed = printed_numbers(study, ("table2",))
    losses, rules = study.evidence("offset"), study.evidence("thresholds")
    rows = []
    for evidence, names in ((losses, LOSSES), (rules, RULES)):
        for key, name in names.items():
            found = [_differences(evidence, key, label, printed) for label in SMALL_SETS]
            rows.append((Cell(name), *map(_counted, found), _counted(np.concatenate(found))))
    status = "; ".join(
        f"{name} {some.status}" for name, some in (("offset", losses), ("thresholds", rules)) if some.status
    )
    caption = (
        f"{scale_note(study)}{f'{status}. ' if status else ''}Printed rates that match (|z| <= {LIMIT:g}); "
        "mean distance from them in points. Eight rates a set: four machines, false positives and negatives."
    )
    table = Table(("reading", *SMALL_SETS, "all"), tuple(rows), caption)
    save_table(study, table, "offset_readings")
    return table


def _differences(evidence: Evidence, key: str, label: str, printed: Printed) -> np.ndarray:
    """Return z and ours minus printed for the rates of a set, as far as there is evidence."""
    found = []
    for name in SMALL_CHOICES:
        for rate in RATES:
            sample = rate_of(evidence, key, label, name, rate)
            value = printed["table2", f"{label}/{name}", f"{rate}_tst"]
            if sample is not None and len(sample.values) > 1:
                z = z_score(sample.mean, value, sample.se, sample.std)
                found.append((z, sample.mean - value))
    return np.array(found).reshape(-1, 2)


def rate_of(evidence: Evidence, key: str, label: str, name: str, rate: str) -> Sample | None:
    """Return a machine's rate: a loss is a method of ``offset``, a machine is one of ``thresholds``."""
    if label not in evidence.datasets:
        return None
    if key in LOSSES:
        return evidence.sample(f"{rate}_{name}", dataset=label, method=key)
    return evidence.sample(f"{rate}_{key}", dataset=label, method=name)


def _counted(found: np.ndarray) -> Cell:
    if not len(found):
        return Cell("")
    matched = int((np.abs(found[:, 0]) <= LIMIT).sum())
    return Cell(f"{matched} of {len(found)}; {np.abs(found[:, 1]).mean():.1f}")


def missed_at_printed(study: Study, label: str, name: str, printed: Printed) -> np.ndarray:
    """False negatives of our machine, by run, where its false positives are the printed ones."""
    levels = study.protocol("thresholds")["roc_levels"]
    curves = study.evidence("thresholds").curves("missed", dataset=label, method=name)
    at = printed["table2", f"{label}/{name}", "FP_tst"]
    return np.array([np.interp(at, levels, curve) for curve in curves])


def show_on_curves(study: Study) -> Table:
    """Return printed false negatives beside ours at the printed false positives: are they one curve's?"""
    printed, evidence = printed_numbers(study, ("table2",)), study.evidence("thresholds")
    rows = []
    for label in evidence.datasets:
        for name in SMALL_CHOICES:
            false_positives, missed = (printed["table2", f"{label}/{name}", f"{r}_tst"] for r in RATES)
            ours = missed_at_printed(study, label, name, printed)
            cells = (Cell(f"{label}/{name}"), Cell(f"{false_positives:g}"), Cell(f"{missed:g}"))
            rows.append((*cells, _beside(ours, missed)))
    status = f"{evidence.status}. ".capitalize() if evidence.status else ""
    caption = (
        f"{scale_note(study)}{status}Percent; ours: mean ± standard deviation over cross-validations. "
        f"{Verdict.MATCH.mark} |z| <= {LIMIT:g}, {Verdict.BETTER.mark} {Verdict.WORSE.mark} beyond."
    )
    header = ("table 2", "FP, printed", "FN, printed", "FN, ours at this FP")
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "on_curves")
    return table


def _beside(ours: np.ndarray, printed: float) -> Cell:
    if len(ours) < 2:
        return Cell(f"{ours[0]:.1f}" if len(ours) else "")
    mean, deviation = float(ours.mean()), float(ours.std(ddof=1))
    z = (mean - printed) / math.hypot(deviation, deviation / len(ours) ** 0.5) if deviation else 0.0
    verdict = Verdict.MATCH if abs(z) <= LIMIT else Verdict.BETTER if z < 0 else Verdict.WORSE
    return Cell(mean_and_spread(mean, deviation), mark=verdict.mark)


def draw_thresholds(study: Study) -> Figure:
    """Draw the ROC curves of table 2's machines, where their own offset puts them, and the printed rates."""
    evidence, printed = study.evidence("thresholds"), printed_numbers(study, ("table2",))
    figure, axes = subplots(1, max(1, len(evidence.datasets)), size=(11, 3.6), squeeze=False)
    for panel, label in zip(axes[0], evidence.datasets, strict=False):
        for name, color in MODEL_COLORS.items():
            _draw_machine(panel, study, label, name, color)
            theirs = [printed["table2", f"{label}/{name}", f"{rate}_tst"] for rate in RATES]
            panel.plot(*theirs, "x", color=color, markersize=8, markeredgewidth=2)
        right, top = (
            max(printed["table2", f"{label}/{name}", f"{rate}_tst"] for name in SMALL_CHOICES)
            for rate in RATES
        )
        panel.set(title=label, xlabel="false positives (%)", xlim=(0, 1.4 * right), ylim=(0, 2.0 * top))
    axes[0, 0].set_ylabel("false negatives (%)")
    axes[0, 0].plot([], [], "ko", label="as solved")
    axes[0, 0].plot([], [], "kx", label="printed", markersize=8, markeredgewidth=2)
    axes[0, 0].legend(fontsize=7)
    return figure


def _draw_machine(axes: Axes, study: Study, label: str, name: str, color: str) -> None:
    evidence, levels = study.evidence("thresholds"), study.protocol("thresholds")["roc_levels"]
    curves = evidence.curves("missed", dataset=label, method=name)
    if not len(curves):
        return
    mean = curves.mean(axis=0)
    axes.plot(levels, mean, color=color, label=name)
    if len(curves) > 1:
        deviation = curves.std(axis=0, ddof=1)
        axes.fill_between(levels, mean - deviation, mean + deviation, color=color, alpha=0.12, linewidth=0)
    solved = [evidence.sample(f"{r}_solved", dataset=label, method=name).mean for r in RATES]
    axes.plot(*solved, "o", color=color, markersize=6)
