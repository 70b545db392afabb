"""What a fresh process waits for before its first result, and the memory that a fit takes at its peak.

Limits take the peer's place where there is none: they were set beforehand, and the ratio says how far below
its limit a number is. Memory is in megabytes instead of seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from race import Row, compare

IMPORTS = {
    "import kernsemble": ("import kernsemble", "import sklearn.svm"),
    "import of an estimator": ("from kernsemble import DistanceKernelSVC", "from sklearn.svm import SVC"),
}
SMALL = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
"""
FITS = {
    "AdaBoost": "AdaBoost(20)",
    "CGEns": "CGEns(20, C=1.0, tol=None)",
    "CGEnsSLS": "CGEnsSLS(20, C=1.0, tol=None)",
    "MultiBoost": "MultiBoost(20, C=100.0, tol=None)",
    "LPBoost": "LPBoost(n_rounds=20, tol=None)",
    "CGBoostClassifier": "CGBoostClassifier(tol=None)",
    "CGBoostRegressor": "CGBoostRegressor(tol=None)",
    "DistanceKernelSVC": "DistanceKernelSVC()",
    "DistanceKernelSVCCV": "DistanceKernelSVCCV()",
    "ExRM": "ExRM()",
    "DRM": "DRM()",
}
ONCE = "once for an installation, which keeps the compiled code; at least half of it goes to "
COMPILED = {
    "CGEns": f"{ONCE}the active-set method of exact hinge solutions",
    "CGBoostClassifier": f"{ONCE}the active-set method of exact hinge solutions",
    "LPBoost": f"{ONCE}the simplex method",
}
COLUMNS = "300 columns of one byte a row are twice the data"
TIMED = """
from time import perf_counter
start = perf_counter()
{code}
seconds = perf_counter() - start
"""
PEAK = """
import resource
from kernsemble import AdaBoost, CGEns, LPBoost
model = {model}
model.fit(X[:500], y[:500])
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
model.fit(X, y)
seconds = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6 - before
data = X.nbytes / 1e6
"""
DATA = {
    "MNIST 60000 x 784 pixels": "import sys; sys.path.insert(0, 'benchmarks')\n"
    "from stumps import mnist_parity; X, y = mnist_parity(60_000); X = X + np.uint8(0)",
    "500000 x 50 floats": "X = rng.normal(size=(500_000, 50)); y = np.where(X[:, 0] > 0, 1, -1)",
    "20000 x 20 floats": "X = rng.normal(size=(20_000, 20)); y = np.where((X[:, :9] ** 2).sum(1) > 8, 1, -1)",
}


def fresh(code: str, cache: str | None = None) -> dict[str, float]:
    """Run code in a process of its own; return what it left in ``seconds`` and ``data``."""
    ending = "\nprint(seconds, globals().get('data', 0.0))"
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + ending],
        capture_output=True, text=True, check=True, env=environment, cwd=Path(__file__).parent.parent,
    ).stdout  # fmt: skip
    return dict(zip(("seconds", "data"), map(float, out.split()[-2:]), strict=True))


def imports(title: str, repeats: int = 5) -> Row:
    """Race two imports, the fastest of several processes each."""
    ours, theirs = (
        min(fresh(TIMED.format(code=code))["seconds"] for _ in range(repeats)) for code in IMPORTS[title]
    )
    return compare(title, "fresh process", IMPORTS[title][1], ours, theirs, 1 / 1.5, True)


def first_fit(name: str) -> list[Row]:
    """Fit 200 samples in fresh processes: with an empty cache of compiled code, and with it."""
    imported = f"from kernsemble import {name}\n"  # imports have rows of their own
    code = imported + SMALL + TIMED.format(code=f"{FITS[name]}.fit(X, y)")
    with tempfile.TemporaryDirectory() as cache:
        empty, filled = (fresh(code, cache)["seconds"] for _ in range(2))
        filled = min(filled, *(fresh(code, cache)["seconds"] for _ in range(2)))
    task, size, why = f"first fit, {name}", "fresh process, ", COMPILED.get(name, "")
    return [
        compare(task, f"{size}nothing compiled", "limit of 5 s", empty, 5.0, 1.0, True, why),
        compare(task, f"{size}compiled before", "limit of 1 s", filled, 1.0, 1.0, True),
    ]


def peak_memory(model: str, size: str, times: int = 3, note: str = "") -> Row:
    """Data plus what a fit adds to it at its peak, against some times the data."""
    found = fresh(SMALL + DATA[size] + PEAK.format(model=model))
    ours, limit = found["data"] + found["seconds"], times * found["data"]
    title = f"peak memory of {model.split('(')[0]}, megabytes"
    return compare(title, size, f"limit of {times} times the data", ours, limit, 1.0, True, note)


def rows() -> Iterator[Row]:
    """Run the races of this file."""
    yield from (imports(title) for title in IMPORTS)
    for name in FITS:
        yield from first_fit(name)
    for size in list(DATA)[:2]:
        yield from (peak_memory(model, size) for model in ("AdaBoost(20)", "CGEns(20, C=0.01, tol=None)"))
    yield peak_memory("LPBoost(300, C=0.01)", "20000 x 20 floats", 4, COLUMNS)
