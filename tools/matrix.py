"""Compute the same trials with the oldest and the newest versions allowed, and compare.

For each environment (oldest Python with the lowest versions of all dependencies, newest Python that is here
with the newest): every estimator is fitted to the same data, the smallest scale of every paper is computed,
and the ledger is judged anew with those trials in the place of the committed ones. Environments are built in
``build/matrix`` and kept. Results: ``results/matrix.json``, which ``docs/reliability.md`` shows; they are
written as each environment is done, and two runs with different ``--only`` may go on side by side.

Usage: python tools/matrix.py [--only LABEL]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from kernsemble.trials.study import Study

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "matrix"
UV = ROOT / ".venv" / "bin" / "uv"
PYTHONS = ("3.15", "3.14", "3.13", "3.12", "3.11")
ENVIRONMENTS = {"oldest": "lowest-direct", "newest": "highest"}
RESULTS = ROOT / "results" / "matrix.json"
HOUR = 3600.0  # that anything may take on a busy machine
SMOKE = """
import sys
from pathlib import Path
from kernsemble.trials.registry import available_papers
from kernsemble.trials.study import Study
for key in available_papers():
    try:
        study = Study(key, "smoke", Path(sys.argv[1]), jobs=1)
        names = [n for n in study.exhibits if study.plan(n).stamps and not study.plan(n).exhibit.alone]
        report = study.run(names)
        print(key, report.done, "trials,", len(report.failures), "failed", file=sys.stderr)
        for reason in sorted({error.strip().splitlines()[-1] for error in report.failures.values()}):
            print(" ", reason, file=sys.stderr)
    except Exception as error:
        print(key, "cannot run:", error, file=sys.stderr)
"""


def find_pythons() -> Iterator[str]:
    """Yield the interpreters on the path or among pyenv's, the newest first."""
    for version in PYTHONS:
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        command = [UV, "python", "find", "--no-python-downloads", "--system", version]
        if pyenv:
            yield str(pyenv[-1])
        elif not (found := subprocess.run(command, capture_output=True, text=True)).returncode:
            yield found.stdout.strip()


def build(label: str, python: str) -> Path:
    """Return the interpreter of an environment with the package and what it needs; build it if need be."""
    folder = BUILD / label
    done = folder / ".complete"
    if not done.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([UV, "venv", "--quiet", "--python", python, folder], check=True)
        install = [UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python"]
        subprocess.run([*install, "--resolution", ENVIRONMENTS[label], f"{ROOT}"], check=True)
        done.touch()
    return folder / "bin" / "python"


def run(python: Path, *arguments: str, folder: Path) -> str:
    """Run in an environment, on one thread, with the sources of the repository."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("KERNSEMBLE_", "PYTHON", "VIRTUAL_ENV"))}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = {**kept, **threads, "PYTHONPATH": str(ROOT / "src")}
    if python.is_relative_to(BUILD):  # compiled code of its own; that of .venv is beside the sources
        environment["NUMBA_CACHE_DIR"] = str(BUILD / f"numba-{python.parents[1].name}")
    command = [python, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=HOUR
    )
    return done.stdout


def versions(python: Path) -> str:
    """Return the versions of Python and of the numerical libraries."""
    code = (
        "import sys, numpy, scipy, numba, sklearn\n"
        "print('Python %d.%d' % sys.version_info[:2], *(f'{m.__name__} {m.__version__}' "
        "for m in (numpy, scipy, numba, sklearn)), sep=', ')"
    )
    return run(python, "-c", code, folder=BUILD).strip()


@cache
def fitted_scores(python: Path) -> dict[str, list[float]]:
    """Return the scores of every estimator, as an environment computes them."""
    return json.loads(run(python, "fit_all.py", folder=ROOT / "tests" / "support"))


def compare_fits(python: Path) -> tuple[int, int, int]:
    """Return how many estimators there are, how many agree to six digits, and how many to the last bit."""
    here, there = fitted_scores(Path(sys.executable)), fitted_scores(python)
    off = {name: np.max(np.abs(np.subtract(here[name], there[name]))) for name in here}
    size = {name: max(1.0, np.max(np.abs(here[name]))) for name in here}
    return len(here), sum(off[n] <= 1e-6 * size[n] for n in here), sum(off[n] == 0 for n in here)


def compute_trials(python: Path, label: str) -> Path:
    """Compute the smallest scale of every paper in a folder of its own; return that folder."""
    root = BUILD / f"root-{label}"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    shutil.copy(ROOT / "params.yaml", root)
    (root / "data").symlink_to(ROOT / "data")
    run(python, "-c", SMOKE, str(root), folder=root)
    return root


class Spliced(NamedTuple):
    """Trials that another environment computed, those that agree and those that are equal; and the rest."""

    trials: int = 0
    agree: int = 0
    equal: int = 0
    uncomputed: int = 0

    def plus(self, other: Spliced) -> Spliced:
        """Add two counts."""
        return Spliced(*map(sum, zip(self, other, strict=True)))


def splice(root: Path, other: Path) -> Spliced:
    """Put the other trials in the place of committed ones; count them."""
    from kernsemble.trials.registry import available_papers
    from kernsemble.trials.study import Study

    counts = Spliced()
    for key in available_papers():
        theirs = Study(key, "smoke", other, compute=False)
        ours = Study(key, "paper", root, compute=False)
        for name in theirs.exhibits:
            if not theirs.plan(name).exhibit.alone:
                counts = counts.plus(splice_exhibit(theirs, ours, name))
    return counts


def splice_exhibit(theirs: Study, ours: Study, name: str) -> Spliced:
    """Put the other trials of an exhibit in the place of committed ones; stale rows stay as they are."""
    from kernsemble.trials.evidence import format_file
    from kernsemble.trials.verification import compare_evidence

    found, whole = theirs.read(name), ours.read(name)
    agreement = compare_evidence(found, whole)
    for different in agreement.differ:
        sys.stderr.write(f"{ours.key} {different}\n")
    rows, trials, equal = {row.key: row for row in whole.file.rows} | whole.current, 0, 0
    for key in found.current.keys() & whole.current.keys():
        before, after = whole.current[key], found.current[key]
        metrics = {m: after.metrics[m] for m in found.plan.exhibit.metrics if m in after.metrics}
        trials += 1
        equal += all(before.metrics.get(m) == value for m, value in metrics.items())
        rows[key] = before._replace(metrics={**before.metrics, **metrics})
    if trials:
        ours.path(name).write_bytes(format_file(rows.values(), whole.plan.exhibit.columns))
    return Spliced(trials, agreement.agree, equal, agreement.uncomputed)


def verdicts_with(other: Path, label: str) -> tuple[Spliced, int, int]:
    """Judge the ledger with the other environment's trials; count verdicts and those that stay."""
    from kernsemble.report.ledger import judge_all

    root = BUILD / f"judged-{label}"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name in ("params.yaml", "published", "results/paper"):
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    before = [row.verdict for row in judge_all(root)]
    counts = splice(root, other)
    after = [row.verdict for row in judge_all(root)]
    return counts, len(before), sum(a == b for a, b in zip(before, after, strict=True))


def figures_of(label: str, python: Path) -> list[dict]:
    """Return what one environment gives, as figures of the page on reliability."""
    told = versions(python)
    estimators, close, same = compare_fits(python)
    counts, judged, stay = verdicts_with(compute_trials(python, label), label)

    def figure(what: str, tried: int, survived: int, detail: str) -> dict:
        return {
            "section": "Determinism",
            "what": f"{what}, {label}: {told}",
            "tried": int(tried),
            "survived": int(survived),
            "detail": detail,
        }

    missing = f"; {counts.uncomputed} more could not be computed there" if counts.uncomputed else ""
    equal = f"agree as `verify` asks for; {counts.equal} to the last bit{missing}"
    unchanged = "unchanged with these trials in place of the committed"
    return [
        figure("estimators", estimators, close, f"within a relative 1e-6; {same} to the last bit"),
        figure("trials", counts.trials, counts.agree, equal),
        figure("verdicts of the ledger", judged, stay, unchanged),
    ]


def save(label: str, figures: list[dict]) -> None:
    """Write the figures of an environment; those of the other stay."""
    before = json.loads(RESULTS.read_text(encoding="utf-8"))["figures"] if RESULTS.is_file() else []
    others = [entry for entry in before if f", {label}: " not in entry["what"]]
    merged = sorted(others + figures, key=lambda entry: ", newest: " in entry["what"])
    text = json.dumps({"figures": merged}, indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Build, compute, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=ENVIRONMENTS, help="one environment; the others' figures are kept")
    chosen = parser.parse_args().only
    BUILD.mkdir(parents=True, exist_ok=True)
    for label in [chosen] if chosen else ENVIRONMENTS:
        interpreter = [*find_pythons()][-1 if label == "oldest" else 0]
        save(label, figures_of(label, build(label, interpreter)))


if __name__ == "__main__":
    main()
