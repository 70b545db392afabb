"""Compute the same on other processors, and compare: the kernels of OpenBLAS that this one has, and ARM64.

Every quick trial is computed under OpenBLAS' kernels for a common, an old and a new processor, and once more
without the vector instructions of NumPy and numba (``Haswell-plain``), in ``build/processors``. It is
compared with the committed row and with the first of these runs. Then the fits of `SAMPLE` run here and on
an emulated ARM64 processor (``tools/arm64``): their choices must be equal, their objectives nearly so. The
status is 1 when anything differs or could not be computed.

Usage: python tools/processors.py [--only kernels|arm64] [--papers KEY ...] [--kernels NAME ...] [--jobs N]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kernsemble.trials.verification import Agreement

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "processors"
KERNELS = ("Haswell", "Prescott", "SkylakeX", "Haswell-plain")  # the first is that of the committed rows
PLAIN = {"NUMBA_CPU_NAME": "generic"}
PLAIN["NPY_DISABLE_CPU_FEATURES"] = " ".join(np.show_config(mode="dicts")["SIMD Extensions"]["found"])
SAME = {"Katmai": "Prescott", "Zen": "Haswell"}  # kernels of two names
SAMPLE = "tests/support/every_processor.py"
# Restricted problems are solved to a relative gap; what is left of it shows in the objectives.
RELATIVE, OF_KIND = 1e-10, {"CG-Boost": 1e-8}
PROBE = """
import numpy as np
from threadpoolctl import threadpool_info
A = np.arange(1e4).reshape(100, 100)
assert np.isfinite(A @ A.T).all()
print(*{lib["architecture"] for lib in threadpool_info() if lib["internal_api"] == "openblas"})
"""
TRIALS = """
import json, sys
from pathlib import Path
from threadpoolctl import threadpool_info
from kernsemble.trials.study import Study
key, root = sys.argv[1:]
report = Study(key, "quick", Path(root), jobs=1).run()
found = {lib["architecture"] for lib in threadpool_info() if lib["internal_api"] == "openblas"}
failed = [f"{job}: {error.strip().splitlines()[-1]}" for job, error in report.failures.items()]
print(json.dumps({"kernels": sorted(found), "failed": failed}))
"""


def say(line: str) -> None:
    """Write one line to standard output, at once."""
    print(line, flush=True)


def core_type(kernel: str) -> str:
    """Return the name by which OpenBLAS is asked for a kernel."""
    return kernel.removesuffix("-plain")


def ran_with(kernel: str, found: Sequence[str]) -> bool:
    """Whether the libraries of a process, by what they call themselves, had a kernel."""
    return {SAME.get(name, name) for name in found} == {core_type(kernel)}


def run(*command: str | Path, kernel: str | None = None) -> subprocess.CompletedProcess:
    """Run a command with the sources of the repository, one thread and a kernel of OpenBLAS."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": str(ROOT / "src")}
    if kernel:
        environment |= {"OPENBLAS_CORETYPE": core_type(kernel), "KERNSEMBLE_CORETYPE": core_type(kernel)}
        environment |= PLAIN if kernel.endswith("-plain") else {}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def has_kernel(kernel: str) -> bool:
    """Whether OpenBLAS runs a processor's kernels here: they are loaded, and no instruction is missing."""
    done = run(sys.executable, "-c", PROBE, kernel=kernel)
    return done.returncode == 0 and ran_with(kernel, done.stdout.split())


def compute(task: tuple[str, str]) -> list[str]:
    """Compute a paper's quick trials under a kernel; return what went wrong."""
    kernel, key = task
    done = run(sys.executable, "-c", TRIALS, key, str(BUILD / kernel), kernel=kernel)
    if done.returncode:
        return [f"{kernel}, {key}: {(done.stderr.strip().splitlines() or ['ended without a word'])[-1]}"]
    told = json.loads(done.stdout.splitlines()[-1])
    if not ran_with(kernel, told["kernels"]):
        return [f"{kernel}, {key}: ran with the kernels of {' and '.join(told['kernels'])} instead"]
    return [f"{kernel}, {key}: {failure}" for failure in told["failed"]]


def prepare(kernel: str) -> None:
    """Lay out an empty folder for the trials of a kernel."""
    root = BUILD / kernel
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    shutil.copy(ROOT / "params.yaml", root)
    (root / "data").symlink_to(ROOT / "data")


def compare_kernels(kernels: Sequence[str], papers: Sequence[str], jobs: int) -> bool:
    """Compute all quick trials under each kernel, count those that agree, and return whether all do."""
    missing = [kernel for kernel in kernels if not has_kernel(kernel)]
    for kernel in missing:
        say(f"{kernel}: not on this processor")
    kernels = [kernel for kernel in kernels if kernel not in missing]
    if not kernels:
        return False
    for kernel in kernels:
        prepare(kernel)
    with ThreadPoolExecutor(jobs) as pool:
        wrong = [line for lines in pool.map(compute, product(kernels, papers)) for line in lines]
    for line in wrong:
        say(f"FAILED: {line}")
    agree = [told(kernel, kernels[0], papers) for kernel in kernels]
    return not wrong and all(agree)


def told(kernel: str, first: str, papers: Sequence[str]) -> bool:
    """Say how the trials under a kernel compare with the committed rows and with those under the first."""
    from kernsemble.trials.study import Study
    from kernsemble.trials.verification import Agreement, compare_study

    committed, others = Agreement(), Agreement()
    for key in papers:
        theirs = Study(key, "quick", BUILD / kernel, compute=False)
        committed += compare_study(theirs, Study(key, "paper", ROOT, compute=False))
        others += compare_study(theirs, Study(key, "quick", BUILD / first, compute=False))
    say(f"{kernel}: {committed}")
    tell_apart(kernel, committed, "committed")
    if kernel != first:
        say(f"{kernel}: {others.agree} of {others.trials} trials agree with those under {first}")
        tell_apart(kernel, others, f"under {first}")
    return not (committed.differ or committed.parted or others.differ or others.parted)


def tell_apart(kernel: str, agreement: Agreement, where: str) -> None:
    """Name the trials that differ, the first twenty."""
    for name in (agreement.differ + agreement.parted)[:20]:
        say("  " + name.replace(" here", f" under {kernel}").replace(" committed", f" {where}"))


def compare_arm64() -> bool:
    """Run the sample here and on an emulated ARM64 processor; say how each fit compares."""
    here = run(sys.executable, SAMPLE, kernel=KERNELS[0] if has_kernel(KERNELS[0]) else None)
    there = run("tools/arm64", SAMPLE)
    for done in (here, there):
        if done.returncode:
            say(done.stderr.strip())
            return False
    lines = differences(*(json.loads(done.stdout)["found"] for done in (here, there)))
    for label, line in lines.items():
        say(f"ARM64, {label}: {line or 'the same choices and objectives'}")
    say(f"ARM64: {sum(not line for line in lines.values())} of {len(lines)} fits agree")
    return not any(lines.values())


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, str]:
    """Return for each fit of the sample how it differs, or nothing."""
    return {label: difference(label, fit, there[label]) for label, fit in here.items()}


def difference(label: str, here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """Say whether the choices of two fits part, or how far their objectives are from each other."""
    if here["choices"] != there["choices"]:
        return "choices part"
    a, b = (np.array(fit["objectives"]) for fit in (here, there))
    if a.shape != b.shape:
        return f"{len(a)} and {len(b)} objectives"
    apart = float(np.max(np.abs(a - b) / np.maximum(np.abs(a), np.finfo(float).tiny), initial=0.0))
    allowed = next((value for kind, value in OF_KIND.items() if label.startswith(kind)), RELATIVE)
    return "" if apart <= allowed else f"the same choices, objectives within a relative {apart:.1e}"


def main() -> int:
    """Compute, compare, count."""
    from kernsemble.trials.rooms import STUDIES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("kernels", "arm64"), help="only a part")
    parser.add_argument("--papers", nargs="+", choices=STUDIES, default=STUDIES, metavar="KEY")
    parser.add_argument(
        "--kernels", nargs="+", default=KERNELS, metavar="NAME", help="the first is compared with"
    )
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("KERNSEMBLE_JOBS") or 2), metavar="N")
    options = parser.parse_args()
    fine = options.only == "arm64" or compare_kernels(options.kernels, options.papers, options.jobs)
    return 0 if (options.only == "kernels" or compare_arm64()) and fine else 1


if __name__ == "__main__":
    sys.exit(main())
