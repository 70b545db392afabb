"""The page with a slider over the stumps of CGENS, from one to its kernel machine: means over runs."""

from __future__ import annotations

import json
from pathlib import Path

from kernsemble.trials.study import Study

METHOD = "CGENS-Stump"
OLDER = "Some of these runs were computed by an earlier version of the solvers."


def limit_numbers(study: Study) -> dict:
    """Return the means of the exhibit ``limit`` of the atlas, by dataset, at the numbers of stumps it has."""
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


def write_limit_page(root: Path, page: Path) -> None:
    """Write the numbers and the place where ``limit.js`` draws them."""
    study = Study("atlas", "paper", root, compute=False)
    older = not study.evidence("limit").complete
    numbers = limit_numbers(Study("atlas", "paper", root, older=True) if older else study)
    data = json.dumps(numbers, separators=(",", ":"))
    note = f"\n<p><small>{OLDER}</small></p>" if older else ""
    page.write_text(
        f'```{{raw}} html\n<div id="limit" class="limit"></div>{note}\n'
        f'<script type="application/json" id="limit-numbers">{data}</script>\n'
        '<script src="_static/limit.js" defer></script>\n```\n',
        encoding="utf-8",
    )
