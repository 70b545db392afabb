"""Tables of the atlas: what competes, with which configurations, and what it costs."""

from __future__ import annotations

import numpy as np

from kernsemble.data.store import load
from kernsemble.report.comparisons import significant
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.study import Study
from atlas.compare import Kind, compare, labels_of, serving

# Method -> key of its grid, and what its size counts.
METHODS = {
    "SVM-Stump": ("svm_stump", "support vectors"),
    "SVM-Perc": ("svm_perceptron", "support vectors"),
    "CGENS-SLS": ("cgens_sls", "stumps"),
    "MultiBoost-cw": ("multiboost", "stumps"),
    "ExRM": ("exrm", "linear machines"),
    "DRM": ("drm", "training rows"),
    "AdaBoost-Stump": ("adaboost", "stumps"),
    "AdaBoost-Perc": ("adaboost_perceptron", "perceptrons"),
    "LPBoost": ("lpboost", "stumps"),
    "CGENS-Stump": ("cgens_stump", "stumps"),
    "CGENS-Fourier": ("cgens_fourier", "cosines"),
    "CG-Boost-l1": ("cg_boost", "kernel columns"),
    "CG-Boost-l2": ("cg_boost", "kernel columns"),
    "AdaBoost.MH": ("adaboost", "stumps"),
    "AdaBoost.ECC": ("adaboost", "stumps"),
    "AdaBoost.MO": ("adaboost_mo", "stumps"),
    "SVM-Gauss": ("svm_gauss", "support vectors"),
    "RandomForest": ("random_forest", "leaves"),
    "HistGB": ("histgb", "leaves"),
    "LightGBM": ("lightgbm", "leaves"),
    "XGBoost": ("xgboost", "leaves"),
}


def grid_of(study: Study, method: str) -> list[dict]:
    """Return the configurations of a method."""
    return study.protocol("arena")[f"grid_{METHODS[method][0]}"]


def cells_of(study: Study, kind: Kind) -> dict[str, tuple[str, ...]]:
    """Return the sets and methods of a comparison, complete or not, for a table of errors."""
    evidence = study.evidence("arena")
    labels = labels_of(evidence, kind)
    return {"datasets": tuple(labels), "methods": serving(evidence, labels)}


def show_data(study: Study) -> Table:
    """Return the sets of the scale with their sizes, and how many rows take part."""
    protocol = study.protocol("arena")
    rows = []
    for label in study.evidence("arena").datasets:
        data = load(label)
        sizes = (data.n_samples, min(data.n_samples, protocol["max_rows"]), data.n_features, data.n_classes)
        rows.append((Cell(label), *(Cell(str(size)) for size in sizes)))
    header = ("set", "rows", "about so many take part", "features", "classes")
    table = Table(header, tuple(rows), scale_note(study).strip())
    save_table(study, table, "data")
    return table


def show_grids(study: Study) -> Table:
    """Return the configurations of each method: what they share, and what differs."""
    rows = []
    for method, (_, unit) in METHODS.items():
        grid = grid_of(study, method)
        shared = {name: value for name, value in grid[0].items() if all(c[name] == value for c in grid)}
        varied = [", ".join(f"{n} {_text(v)}" for n, v in c.items() if n not in shared) for c in grid]
        fixed = ", ".join(f"{name} {_text(value)}" for name, value in shared.items())
        rows.append((Cell(method), Cell("; ".join(varied)), Cell(fixed), Cell(unit)))
    table = Table(("method", "five configurations", "fixed", "its size counts"), tuple(rows))
    save_table(study, table, "grids")
    return table


def _text(value: float | int | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def show_costs(study: Study, kind: Kind) -> Table:
    """Return for each method its rank and error, and geometric means over sets of times and sizes."""
    comparison = compare(study, kind)
    metrics = ("tuning_seconds", "fit_seconds", "predict_seconds", "kilobytes")
    rows = []
    for place, method in enumerate(comparison.methods) if comparison.datasets else ():
        typical = [comparison.typical(metric)[place] for metric in metrics]
        cells = [f"{comparison.ranks[method]:.1f}", f"{comparison.errors[:, place].mean():.1f}"]
        cells += [significant(value, 2) for value in typical]
        size = np.median(comparison.values["size"][:, place])
        rows.append((Cell(method), *map(Cell, cells), Cell(f"{size:.0f} {METHODS[method][1]}")))
    header = (
        kind, "average rank", "mean error (%)", "tuning (s)", "training (s)",
        "1000 predictions (s)", "kB", "size",
    )  # fmt: skip
    n_sets = len(comparison.datasets)
    caption = f"{scale_note(study)}{n_sets} sets; times and kB: geometric means over sets; sizes: medians."
    table = Table(header, tuple(sorted(rows, key=lambda row: float(row[1].text))), caption)
    save_table(study, table, f"costs_{kind.replace(' ', '_')}")
    return table
