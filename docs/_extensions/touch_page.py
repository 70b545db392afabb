"""Drawings to touch: costs and errors of methods, an ensemble that runs into its kernel machine, one that
collapses, curves of a model.

The numbers of the first two are means of the atlas' evidence; the others are fitted when the site is built.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pieces import OLDER, raw
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.preprocessing import StandardScaler

from kernsemble import DistanceKernelSVCCV, ExRM
from kernsemble.trials.study import Study

COSTS = {"fit_seconds": "seconds of training", "predict_seconds": "seconds for 1000 predictions",
         "kilobytes": "kilobytes"}  # fmt: skip
METHOD = "CGENS-Stump"
MEMBERS, LAM, RATE = 5, 2.0, 5e-4
COUNTS = (0, 2, 4, 6, 8, 10, 13, 16, 20, 25, 30, 35, 40, 50, 60, 75, 100, 125, 150, 200, 300, 500)
FEATURES, KNOTS = 8, 60


def front_numbers(study: Study) -> dict:
    """Return for each dataset and method of the arena the mean error in percent and the mean costs."""
    evidence = study.evidence("arena")
    sets: dict = {}
    for label in evidence.datasets:
        for method in evidence.methods:
            samples = [evidence.sample(metric, dataset=label, method=method) for metric in ("error", *COSTS)]
            if len(samples[0].values):
                sets.setdefault(label, {})[method] = [float(f"{sample.mean:.4g}") for sample in samples]
    return {"costs": list(COSTS.values()), "sets": sets}


def limit_numbers(study: Study) -> dict:
    """Return means over runs at each number of stumps, by dataset: of CGENS, and the error of its machine."""
    evidence = study.evidence("limit")
    sets = {}
    for label in evidence.datasets:
        excess, disagreement, error = (
            evidence.curves(metric, dataset=label, method=METHOD).mean(axis=0).tolist()
            for metric in ("excess", "disagreement", "error")
        )
        machine = error.pop()
        sets[label] = {"excess": excess, "differ": disagreement, "error": error, "machine": machine}
    return {"counts": list(study.protocol("limit")["counts"]), "sets": sets}


def collapse_numbers() -> dict:
    """Return an ensemble along gradient descent on problem (5) of guo2017: p = 2, two features."""
    X, y = make_moons(60, noise=0.25, random_state=3)
    X, signs = StandardScaler().fit_transform(X), 2.0 * y[:, np.newaxis] - 1
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(2, MEMBERS)), rng.normal(size=MEMBERS)
    steps = []
    for n in range(COUNTS[-1] + 1):
        if n in COUNTS:
            steps.append(np.column_stack([W.T, b]).round(4).tolist())
        slack = signs * np.maximum(0, 1 - signs * (X @ W + b))
        W = W - RATE * (np.abs(W).sum(axis=1, keepdims=True) * np.sign(W) - 2 * LAM * X.T @ slack)
        b = b + RATE * 2 * LAM * slack.sum(axis=0)
    single = ExRM(1, lam=LAM / MEMBERS).fit(X, y)
    machine = [*np.ravel(single.coef_), *np.ravel(single.intercept_)]
    points = np.column_stack([X, y]).round(3).tolist()
    return {"points": points, "counts": COUNTS, "steps": steps, "machine": np.round(machine, 4).tolist()}


def curve_numbers() -> dict:
    """Return the curves of the features that matter most of a machine of all stumps, in their own units."""
    data = load_breast_cancer()
    scaler = StandardScaler().fit(data.data)
    model = DistanceKernelSVCCV(kernel="stump", random_state=0).fit(scaler.transform(data.data), data.target)
    moves = [np.abs(np.diff(f.values[:, 0])).sum() for f in model.shape_functions_]
    curves = {}
    for d in np.argsort(moves)[::-1][:FEATURES]:
        knots, values = model.shape_functions_[d]
        chosen = np.unique(np.linspace(0, len(knots) - 1, KNOTS).round().astype(int))
        units = scaler.mean_[d] + scaler.scale_[d] * knots[chosen]
        curves[str(data.feature_names[d])] = [
            [float(f"{a:.4g}"), float(f"{b:.3g}")] for a, b in zip(units, values[chosen, 0], strict=True)
        ]
    return {"curves": curves, "above": str(data.target_names[1]), "below": str(data.target_names[0])}


def write_touch_pages(root: Path, folder: Path) -> None:
    """Write a page for each drawing: its numbers, and its place."""
    for name, exhibit, numbers in (("fronts", "arena", front_numbers), ("limit", "limit", limit_numbers)):
        write_drawing(folder, name, *of_the_atlas(root, exhibit, numbers))
    write_drawing(folder, "collapse", collapse_numbers())
    write_drawing(folder, "curves", curve_numbers())


def of_the_atlas(root: Path, exhibit: str, numbers: Callable[[Study], dict]) -> tuple[dict, bool]:
    """Return numbers of an exhibit, and whether they need rows of older code."""
    study = Study("atlas", "paper", root, compute=False)
    older = not study.evidence(exhibit).complete
    return numbers(Study("atlas", "paper", root, older=True) if older else study), older


def write_drawing(folder: Path, name: str, numbers: dict, older: bool = False) -> None:
    """Write the place where ``touch.js`` draws, and the numbers that it reads."""
    note = f"\n<p><small>{OLDER}</small></p>" if older else ""
    data = json.dumps(numbers, separators=(",", ":"))
    page = raw(
        f'<div id="{name}" class="touch"></div>{note}\n'
        f'<script type="application/json" id="{name}-numbers">{data}</script>'
    )
    (folder / f"{name}.md").write_text(page, encoding="utf-8")
