"""Fits from a file, 10^4 to 10^7 rows of 50 features: results/benchmarks_growth.csv and .svg.

The data are written to a temporary directory (2.5 GB for 10^7 rows) and mapped into memory, once as bytes
and once as float32, without ties. For each size: the processor's seconds before the first round (codes are
written) and of a round, and the private memory that the fit added at its peak. Then two worker processes of
Dask, with 10^6 rows, and with 6,400 in 64 parts: there the rows cost nothing, and what is left is the cost
of communication, to the workers together and to the process of client and scheduler.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from race import Row
from scaling import slope

from kernsemble import AdaBoost
from kernsemble.growth.partitioned import partitioned_adaboost
from kernsemble.growth.streamed_cgens import StreamedCGEns
from kernsemble.growth.streamed_stumps import StreamedStumpOracle

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
WIDTH, ROUNDS, BLOCK = 50, 10, 100_000
DTYPES = ("uint8", "float32")
TABLE = Path(__file__).parent.parent / "results" / "benchmarks_growth.csv"
COLUMNS = ["model", "data", "workers", "n_samples", "before_first_round", "round", "private_mb", "data_mb"]


def samples(dtype: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, WIDTH), dtype=np.float32)
    y = np.where(X[:, :5].sum(axis=1) + rng.standard_normal(n) > 0, 1, -1).astype(np.int8)
    return (X if dtype == "float32" else np.clip(40 * X + 128, 0, 255).astype(np.uint8)), y


def write(folder: Path, n: int) -> np.ndarray:
    """Write the same data as bytes and as float32; return the labels."""
    labels = []
    for dtype in DTYPES:
        with open(folder / dtype, "wb") as file:
            for seed in range(0, n, BLOCK):
                X, y = samples(dtype, min(n, BLOCK), seed)
                X.tofile(file)
                labels.append(y)
    return np.concatenate(labels[len(labels) // 2 :])


@contextmanager
def private_memory() -> Iterator[list[float]]:
    """Append to the list the peak of private memory over that at the start, in MB."""
    peak, done, start = [0.0], Event(), _private()
    result: list[float] = []

    def watch() -> None:
        while not done.wait(0.01):
            peak.append(_private() - start)

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield result
    finally:
        done.set()
        watcher.join()
        result.append(max(peak))


def _private() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1000
    raise OSError("Private memory is measured on Linux only.")


def boost(X: Any, y: Any, clock: Callable = process_time, **options: Any) -> tuple[float, float]:
    """Return the seconds before the first round and of a round, weights with the rows."""
    marks = [clock()]

    def rounds() -> Iterator[int]:
        for t in range(1 + ROUNDS):  # the first two marks enclose what comes before
            yield t
            marks.append(clock())

    partitioned_adaboost(X, y, rounds(), **options)
    rest = (marks[-1] - marks[1]) / ROUNDS
    return marks[1] - marks[0] - rest, rest


def adaboost(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the same for the estimator: from one search to the next."""
    marks = []

    class Watched(StreamedStumpOracle):
        def best(self, V: np.ndarray) -> list:
            marks.append(process_time())
            return super().best(V)

    start = process_time()
    AdaBoost(5, base=Watched).fit(X, y)
    return marks[0] - start, (marks[-1] - marks[0]) / 4


def cgens(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the same for column generation; before the first round includes the gap after the last."""
    start, clock = process_time(), perf_counter()
    model = StreamedCGEns(C=1.0 / len(X), n_rounds=5, tol=None).fit(X, y)
    seconds, passed = process_time() - start, perf_counter() - clock
    rest = sum(entry.oracle_seconds + entry.master_seconds for entry in model.rounds_) * seconds / passed
    return seconds - rest, rest / len(model.rounds_)


MODELS: dict[str, Callable] = {
    "AdaBoost, weights with the rows": boost,
    "AdaBoost(base=StreamedStumpOracle)": adaboost,
    "StreamedCGEns": cgens,
}


def from_files() -> Iterator[tuple]:
    """Measure every model on every size."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for n in SIZES:
            y = write(folder, n)
            for (model, fit), dtype in product(MODELS.items(), DTYPES):
                X = np.memmap(folder / dtype, dtype=dtype, mode="r", shape=(n, WIDTH))
                fit(X[:2000], y[:2000])  # compiled before the clock starts
                with private_memory() as peak:
                    before, rest = fit(X, y)
                yield model, dtype, 0, n, before, rest, peak[0], X.nbytes / 1e6
                sys.stdout.write(f"{model}, {dtype}, {n}: {before:.3g} + {rest:.3g} s, {peak[0]:.0f} MB\n")
                sys.stdout.flush()


def made_by_workers(dtype: str, n: int, n_parts: int) -> tuple[Any, Any]:
    """Return data and labels as Dask arrays whose parts each worker makes for itself."""
    import dask.array
    from dask import delayed

    parts = [delayed(samples, nout=2)(dtype, n, seed) for seed in range(n_parts)]
    X = [dask.array.from_delayed(part[0], (n, WIDTH), dtype) for part in parts]
    y = [dask.array.from_delayed(part[1], (n,), np.int8) for part in parts]
    return dask.array.concatenate(X).persist(), dask.array.concatenate(y).persist()


def on_workers() -> Iterator[tuple]:
    """Measure boosting over two worker processes; with hardly any rows, in 64 parts."""
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=2, **settings) as cluster, Client(cluster) as client:

        def clock() -> np.ndarray:
            return np.array([process_time(), sum(client.run(process_time).values())])

        for dtype, (n, n_parts) in product(DTYPES, ((6_400, 64), (1_000_000, 4))):
            boost(*made_by_workers(dtype, 2000, 1), clock, client=client)
            X, y = made_by_workers(dtype, n // n_parts, n_parts)
            before, rest = boost(X, y, clock, client=client)
            for who, of_setup, of_round in zip(
                ("client and scheduler", "workers"), before, rest, strict=True
            ):
                yield f"{n_parts} parts: {who}", dtype, 2, n, of_setup, of_round, np.nan, X.nbytes / 1e6
                sys.stdout.write(f"{n_parts} parts, {dtype}, {who}: {of_setup:.3g} + {of_round:.3g} s\n")
                sys.stdout.flush()


def draw(table: pd.DataFrame) -> None:
    """Draw the seconds of a round, with slopes in the legend."""
    from kernsemble.report.figures import render, subplots

    figure, axes = subplots(size=(5.6, 3.8))
    here = table[table.workers == 0]
    for color, (model, of_model) in enumerate(here.groupby("model", sort=False)):
        for dtype, part in of_model.groupby("data", sort=False):
            power = slope(part.n_samples.to_numpy(), part["round"].to_numpy())
            label = f"{model}, {dtype}: slope {power:.2f}"
            axes.plot(
                part.n_samples, part["round"], "o-" if dtype == "uint8" else "s--", c=f"C{color}", label=label
            )
    axes.set(xscale="log", yscale="log", xlabel="rows of 50 features in a file", ylabel="seconds of a round")
    axes.legend(fontsize=6.5)
    TABLE.with_suffix(".svg").write_text(render(figure), encoding="utf-8")


def rows() -> list[Row]:
    """Write and draw what was measured; no race, so no rows."""
    records = []
    for record in chain(from_files(), on_workers()):
        records.append(record)
        table = pd.DataFrame(records, columns=COLUMNS)
        table.to_csv(TABLE, index=False, float_format="%.4g")  # at once: a run that is stopped keeps it
    draw(table)
    return []
