"""Compute the same trials with the oldest and the newest versions allowed, and compare.

For each environment (oldest Python with the lowest versions of all dependencies, newest Python that is here
with the newest): every estimator is fitted to the same data, the smallest scale of every paper is computed,
and the ledger is judged anew with those trials in the place of the committed ones. Environments are built in
``build/matrix`` and kept. Results: ``results/matrix.json``, which ``docs/reliability.md`` shows.

Usage: python tools/matrix.py [--only LABEL]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "matrix"
UV = ROOT / ".venv" / "bin" / "uv"
PYTHONS = ("3.15", "3.14", "3.13", "3.12", "3.11")
ENVIRONMENTS = {"oldest": "lowest-direct", "newest": "highest"}
SMOKE = """
import sys
from pathlib import Path
from kernsemble.experiments.registry import available_papers
from kernsemble.study import Study
for key in available_papers():
    try:
        study = Study(key, "smoke", Path(sys.argv[1]), jobs=1)
        names = [n for n in study.exhibits if study.plan[n].stamps and not study.plan[n].exhibit.alone]
        report = study.run(names)
        print(key, report.done, "trials,", len(report.failures), "failed", file=sys.stderr)
    except Exception as error:
        print(key, "cannot run:", error, file=sys.stderr)
"""


def find_python(label: str) -> str | None:
    """Return the interpreter: the oldest supported one, or the newest on the path or among pyenv's."""
    for version in reversed(PYTHONS) if label == "oldest" else PYTHONS:
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        if pyenv:
            return str(pyenv[-1])
        command = [UV, "python", "find", "--no-python-downloads", "--system", version]
        found = subprocess.run(command, capture_output=True, text=True)
        if not found.returncode:
            return found.stdout.strip()
    return None


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
    cache = {"NUMBA_CACHE_DIR": str(BUILD / f"numba-{python.parents[1].name}")}
    environment = {**kept, **threads, **cache, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [python, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
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


def compare_fits(python: Path) -> tuple[int, int, int]:
    """Return how many estimators there are, how many agree to six digits, and how many to the last bit."""
    here = json.loads(run(Path(sys.executable), "fit_all.py", folder=ROOT / "tests"))
    there = json.loads(run(python, "fit_all.py", folder=ROOT / "tests"))
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


def splice(root: Path, other: Path) -> tuple[int, int, int]:
    """Put the other trials in the place of committed ones; count trials, agreeing and equal ones."""
    from kernsemble.evidence_file import format_file
    from kernsemble.experiments.registry import available_papers
    from kernsemble.study import Study
    from kernsemble.verification import compare_study

    trials = agree = equal = 0
    for key in available_papers():
        theirs = Study(key, "smoke", other, compute=False)
        ours = Study(key, "paper", root, compute=False)
        agreement = compare_study(theirs, ours)
        agree += agreement.agree
        for name in theirs.exhibits:
            found, whole = theirs.read(name), ours.read(name)
            for row_key, row in found.current.items():
                if row_key in whole.current:
                    before = whole.current[row_key]
                    metrics = {m: row.metrics[m] for m in found.plan.exhibit.metrics if m in row.metrics}
                    trials += 1
                    equal += all(before.metrics[m] == value for m, value in metrics.items())
                    whole.current[row_key] = before._replace(metrics={**before.metrics, **metrics})
            if found.current and whole.current:
                columns = whole.plan.exhibit.columns
                ours.path(name).write_bytes(format_file(whole.current.values(), columns))
    return trials, agree, equal


def verdicts_with(other: Path, label: str) -> tuple[tuple[int, int, int], int, int]:
    """Judge the ledger with the other environment's trials; count verdicts and those that stay."""
    from kernsemble.ledger import judge_all

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
    (trials, agree, equal), judged, stay = verdicts_with(compute_trials(python, label), label)

    def figure(what: str, tried: int, survived: int, detail: str) -> dict:
        return {
            "section": "Determinism",
            "what": f"{what}, {label}: {told}",
            "tried": tried,
            "survived": survived,
            "detail": detail,
        }

    return [
        figure("estimators", estimators, close, f"{same} to the last bit, the others to 1e-6"),
        figure("trials", trials, agree, f"agree as `verify` asks for; {equal} to the last bit"),
        figure(
            "verdicts of the ledger", judged, stay, "unchanged with these trials in place of the committed"
        ),
    ]


def main() -> None:
    """Build, compute, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=ENVIRONMENTS, help="one environment; the others' figures are kept")
    chosen = parser.parse_args().only
    path = ROOT / "results" / "matrix.json"
    figures = json.loads(path.read_text())["figures"] if path.is_file() else []
    BUILD.mkdir(parents=True, exist_ok=True)
    for label in [chosen] if chosen else ENVIRONMENTS:
        interpreter = find_python(label)
        if interpreter is None:
            sys.stderr.write(f"{label}: no such Python here\n")
            continue
        figures = [entry for entry in figures if f", {label}: " not in entry["what"]]
        figures += figures_of(label, build(label, interpreter))
    text = json.dumps({"figures": figures}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
