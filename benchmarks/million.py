"""The stump machine without a kernel matrix, 10^4 to 10^6 rows of 20 and 50 features, against its peers.

Training only, on the same rows; every model then scores 100,000 others. An additive function of the features
with noise: boosted trees have nothing to gain from interactions, and SVC with the exact kernel has the same
machine. ``same_answer`` says that the certificate is below 1e-3 and that the error is at most half a
percentage point above the peer's; against SVC it says that the objectives agree.

Four races are against a limit, not a peer: seconds to the gap on 10^6 rows; seconds, and megabytes beside the
file, on 10^7 rows of 50 bytes each in a file; the growth of time from 10^4 to 10^6 rows; and one Dask worker
against two. There ``peer_seconds`` is the limit, or what it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from growth import private_memory
from lightgbm import LGBMClassifier
from race import Row, compare, fastest, once
from scaling import slope
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import SVC, LinearSVC

from kernsemble import DistanceKernelSVC
from kernsemble.growth.partitioned_splines import partitioned_stump_machine
from kernsemble.kernels import stump_constant, stump_kernel

SIZES, WIDTHS, NEW = (10_000, 100_000, 1_000_000), (20, 50), 100_000
FILE_ROWS, FILE_BLOCK, DASK_ROWS = 10_000_000, 500_000, 1_000_000
C = {10_000: 0.1, 100_000: 0.1, 1_000_000: 0.01}
GAP, POINTS = 1e-3, 0.005
NYSTROEM, EBM = "Nystroem (200 rows) and LinearSVC", "EBM, no interactions"
LARGEST = {"SVC": 10_000, NYSTROEM: 100_000}  # rows: a kernel matrix; features
EBM_ENTRIES = 2_000_000  # of X: patience
WHY = {  # targets are out of reach
    "LightGBM": "at C = 0.01 a fit takes half as long as at 0.1; the time of trees hangs on rows alone",
    "LinearSVC on one-hot bins": "32 levels a feature, no price on their differences, LIBLINEAR's tolerance",
}
TARGETS = {"LightGBM": 1.0, "LinearSVC on one-hot bins": 2.0, NYSTROEM: 5.0, "SVC": 10.0, EBM: 50.0}
SECONDS = {20: 10.0, 50: 30.0}  # of a fit to 10^6 rows, by features
FILE_SECONDS, FILE_MEGABYTES, SLOPE, SPEEDUP = 600.0, 2000.0, 1.1, 1.6


@cache
def samples(n: int, seed: int = 0, width: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and labels by an additive function of eight features with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    f = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + np.abs(X[:, 2]) - 0.8 + 0.5 * X[:, 3:8].sum(axis=1)
    return X, np.where(f + rng.normal(size=n) > 0, 1, -1)


class StumpNystroem(TransformerMixin, BaseEstimator):
    """Nystroem features of the exact stump kernel, made by our kernel: scikit-learn's takes pairs of rows."""

    def __init__(self, n_components: int = 200):
        self.n_components = n_components

    def fit(self, X: np.ndarray, y: object = None) -> StumpNystroem:
        """Take the first rows as landmarks."""
        self.landmarks_ = X[: self.n_components]
        self.constant_ = stump_constant(X.min(axis=0), X.max(axis=0))
        values, vectors = np.linalg.eigh(stump_kernel(self.landmarks_, constant=self.constant_))
        self.root_ = vectors / np.sqrt(np.maximum(values, 1e-12 * values.max()))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Features (n, n_components)."""
        return stump_kernel(X, self.landmarks_, constant=self.constant_) @ self.root_


def explainable_boosting() -> Any:
    """InterpretML's machine, which `make peers` installs."""
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ModuleNotFoundError as error:
        raise RuntimeError("EBM needs interpret-core: run `make peers`.") from error
    return ExplainableBoostingClassifier(interactions=0, n_jobs=2)


PEERS: dict[str, Callable[[], Any]] = {
    "LightGBM": partial(LGBMClassifier, n_estimators=100, num_leaves=31, n_jobs=2, verbose=-1),
    "LinearSVC on one-hot bins": lambda: make_pipeline(
        KBinsDiscretizer(
            32, encode="onehot", subsample=200_000, random_state=0, quantile_method="averaged_inverted_cdf"
        ),
        LinearSVC(C=0.01, random_state=0),
    ),
    NYSTROEM: lambda: make_pipeline(StumpNystroem(), LinearSVC(C=1.0, random_state=0)),
    EBM: explainable_boosting,
}


def against(peer: str, n: int, width: int, ours: float, model: DistanceKernelSVC) -> Row:
    """Race one peer against the seconds of our fit."""
    (X, y), (X_new, y_new) = samples(n, 0, width), samples(NEW, 1, width)
    theirs, fitted = once(lambda: PEERS[peer]().fit(X, y))
    error, reference = 1.0 - model.score(X_new, y_new), 1.0 - fitted.score(X_new, y_new)
    same = model.relative_gap_ <= GAP and error <= reference + POINTS
    note = f"gap {model.relative_gap_:.1e}; error {100 * error:.2f} % against {100 * reference:.2f} %"
    note += f"; {WHY[peer]}" if theirs / ours < TARGETS[peer] and peer in WHY else ""
    return compare("stump machine", f"{n} x {width}", peer, ours, theirs, TARGETS[peer], same, note)


def against_svc(n: int, width: int, ours: float, model: DistanceKernelSVC) -> Row:
    """Race SVC on the kernel matrix, which its time includes."""
    X, y = samples(n, 0, width)
    theirs, machine = once(lambda: SVC(kernel=stump_kernel, C=C.get(n, 0.1), cache_size=1000).fit(X, y))
    beta, rows = machine.dual_coef_[0], machine.support_
    dual = y[rows] @ beta - 0.5 * beta @ stump_kernel(X[rows]) @ beta
    same = dual <= model.objective_[0] * (1 + 1e-9) and model.objective_[0] - dual <= 2 * GAP * dual
    return compare("stump machine", f"{n} x {width}", "SVC", ours, theirs, TARGETS["SVC"], same)


def limit(task: str, size: str, ours: float, most: float, same: bool, note: str) -> Row:
    """Return the row of a task that has a limit of seconds, or of what the task names."""
    return compare(task, size, "its limit", ours, most, 1.0, same, note)


def of_width(width: int, sizes: tuple[int, ...]) -> Iterator[Row]:
    """Race the peers on all sizes; then what has a limit: the largest size, and the growth of time."""
    times = []
    for n in sizes:
        X, y = samples(n, 0, width)
        model = DistanceKernelSVC(C=C.get(n, 0.1), solver="spline")
        ours, _ = fastest(lambda X=X, y=y, model=model: model.fit(X, y), 2)
        times.append(ours)
        for peer in PEERS:
            if n <= LARGEST.get(peer, n) and (peer != EBM or n * width <= EBM_ENTRIES):
                yield against(peer, n, width, ours, model)
        if n <= LARGEST["SVC"]:
            yield against_svc(n, width, ours, model)
    same, note = model.relative_gap_ <= GAP, f"gap {model.relative_gap_:.1e}"
    yield limit("stump machine, seconds", f"{n} x {width}", times[-1], SECONDS[width], same, note)
    power = slope(np.array(sizes), np.array(times))
    note = "the power of the rows that the seconds grow with, and its limit, stand in place of seconds"
    yield limit("stump machine, slope", f"{sizes[0]} to {sizes[-1]} x {width}", power, SLOPE, True, note)


def from_a_file(n: int = FILE_ROWS, width: int = 50) -> Iterator[Row]:
    """Fit to bytes in a file that is mapped into memory; block by block, so that it is never held whole."""
    with TemporaryDirectory() as folder:
        path, labels = Path(folder) / "rows", []
        with path.open("wb") as file:
            for seed, start in enumerate(range(0, n, FILE_BLOCK)):
                X, y = samples.__wrapped__(min(FILE_BLOCK, n - start), 2 + seed, width)
                file.write(np.clip(40.0 * X + 128.0, 0, 255).astype(np.uint8).tobytes())
                labels.append(y)
        X, y = np.memmap(path, dtype=np.uint8, mode="r", shape=(n, width)), np.concatenate(labels)
        DistanceKernelSVC(C=1e-4, solver="spline").fit(X[:5000], y[:5000])  # compiled before the clock starts
        with private_memory() as peak:
            seconds, model = once(lambda: DistanceKernelSVC(C=1e-3 / 40, solver="spline").fit(X, y))
    same = model.relative_gap_ <= GAP
    size, note = f"{n} x {width} bytes", f"gap {model.relative_gap_:.1e}; {peak[0]:.0f} MB beside the file"
    yield limit("stump machine from a file, seconds", size, seconds, FILE_SECONDS, same, note)
    note = "megabytes beside the file stand in place of seconds"
    yield limit("stump machine from a file, memory", size, peak[0], FILE_MEGABYTES, same, note)


def on_workers(n: int = DASK_ROWS, width: int = 50) -> Iterator[Row]:
    """Fit on one Dask worker and on two, the same four chunks."""
    import dask.array
    from distributed import Client, LocalCluster, wait

    X, y = samples(n, 0, width)
    times, gaps = [], []
    for n_workers in (1, 2):
        settings = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
        with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
            chunks = dask.array.from_array(X, chunks=(-(-n // 4), -1)).persist()
            wait(chunks)  # sent to the workers before the clock starts
            few = dask.array.from_array(X[:2000], chunks=(500, -1))
            partitioned_stump_machine(few, y[:2000], 0.1, client=client)  # compiled, and imported
            start = perf_counter()
            solution, _ = partitioned_stump_machine(chunks, y, C.get(n, 0.1), client=client)
            times.append(perf_counter() - start)
            gaps.append(solution.relative_gap)
    note = (
        f"gaps {gaps[0]:.1e}, {gaps[1]:.1e}; one thread a worker; the client, on the same machine, finds the "
        "knots of 65,536 values a feature and takes Newton's steps itself: a third of the time of one worker"
    )
    same, size = max(gaps) <= GAP, f"{n} x {width}"
    yield compare("stump machine on two workers", size, "one worker", times[1], times[0], SPEEDUP, same, note)


def rows(
    sizes: tuple[int, ...] = SIZES, file_rows: int = FILE_ROWS, dask_rows: int = DASK_ROWS
) -> Iterator[Row]:
    """Run the races of this file."""
    for peer in PEERS.values():  # compiled, and imported, before the clock starts
        peer().fit(*samples(2000))
    for width in WIDTHS:
        yield from of_width(width, sizes)
        samples.cache_clear()
    yield from from_a_file(file_rows)
    yield from on_workers(dask_rows)
