"""Charts of guo2017 that concern the trees, and what the paper did not try."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from kernsemble.report.figures import PALETTE, draw_band, subplots
from kernsemble.trials.study import Study
from guo2017.charts import label_lines, printed_cells

ODD_SETS = ("australian", "liver", "heart", "ionosphere")
TREES = {"Ada_10": "AdaTree10", "Ada_30": "AdaTree30", "Bag_10": "BagTree10", "Bag_30": "BagTree30"}


def draw_hypotheses(study: Study) -> Figure:
    """Draw how far each hypothesis is from the printed tree cells: root mean square over sets, in points."""
    evidence = study.evidence("trees")
    printed = {(c.row, c.column): c.value for c in printed_cells(study, "table1")}
    names = evidence.methods
    groups = {
        "the four odd sets": [label for label in evidence.datasets if label in ODD_SETS],
        "the other four": [label for label in evidence.datasets if label not in ODD_SETS],
    }
    figure, axes = subplots(1, 2, size=(9, 0.33 * len(names) + 1.2), sharey=True)
    for panel, ensemble in zip(axes, ("Ada", "Bag"), strict=True):
        for (title, labels), marker, color in zip(groups.items(), "os", PALETTE[1::-1], strict=False):
            distances = [_distance(study, printed, name, labels, ensemble) for name in names]
            panel.plot(distances, range(len(names)), marker, color=color, label=title)
        panel.set(title=f"{ensemble}Tree, 10 and 30", xlabel="distance from the printed cells (points)")
        panel.set_xlim(0, None)
        panel.set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _distance(study: Study, printed: dict, name: str, labels: list[str], ensemble: str) -> float:
    """Root mean square difference over sets and both sizes; nan without evidence."""
    evidence = study.evidence("trees")
    differences = [
        evidence.sample(metric, dataset=label, method=name).mean - printed[row, label]
        for label in labels
        for metric, row in TREES.items()
        if metric.startswith(ensemble)
    ]
    return float(np.sqrt(np.mean(np.square(differences)))) if differences else float("nan")


def draw_diversity(study: Study) -> Figure:
    """Draw test errors against lambda for components with own columns or rows, trained together or apart."""
    evidence, lambdas = study.evidence("diversity"), study.protocol("diversity")["diversity_lambdas"]
    n_rows = -(-len(evidence.datasets) // 4)
    figure, axes = subplots(n_rows, 4, size=(10.5, 2.6 * n_rows), squeeze=False, sharex=True)
    for panel in axes.flat[len(evidence.datasets) :]:
        panel.axis("off")
    looks = dict(zip(evidence.methods, (("k", "-"), (1, "--"), (1, "-"), (2, "--"), (2, "-")), strict=False))
    for panel, label in zip(axes.flat, evidence.datasets, strict=False):
        for method, (color, style) in looks.items():
            curves = evidence.curves("error", dataset=label, method=method)
            if len(curves):
                shade = color if color == "k" else PALETTE[color]
                draw_band(panel, lambdas, curves, method, color=shade, linestyle=style)
        panel.set(title=label, xscale="log")
    for panel in axes[-1]:
        panel.set_xlabel(r"$\lambda$")
    for panel in axes[:, 0]:
        panel.set_ylabel("test error (%)")
    label_lines(axes[0, 0])
    return figure
