"""Somebody's own estimator in the arena: its trials on the atlas' splits, beside the committed rows.

Only the newcomer is computed. It is given by a factory that returns an estimator, or a list of
configurations, the simplest first, of which each trial takes the one that predicts most held-out rows of its
inner folds correctly, as for all methods of the arena. Its errors stand beside the committed ones of the same
splits: average ranks, the signed-rank probabilities of `atlas.compare`, and what no method beats in error and
size. Seconds are those of this machine and are compared with none.

Rows go to a CSV file of the user's and are there again the next time, unless the configurations, the file
that the factory stands in, or the splits have changed.
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from kernsemble.trials.errors import PlanError, progress_bar
from kernsemble.trials.evidence import write_atomically
from kernsemble.trials.plan import absent_data, data_checksum
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from atlas.compare import KINDS, ROPE, Comparison, Kind, compare, front, labels_of, signed_rank
from atlas.trials import BINARY_SETS, MULTICLASS_SETS, Rows, choose, draw, stored_bytes

COLUMNS = ("dataset", "trial", "error", "chosen", "kilobytes", "fit_seconds", "stamp")


class Own(NamedTuple):
    """One trial of the newcomer."""

    dataset: str
    trial: int
    error: float
    chosen: int
    kilobytes: float
    fit_seconds: float
    stamp: str


def rank(
    factory: str,
    study: Study,
    *,
    datasets: Sequence[str] | None = None,
    runs: int | None = None,
    jobs: int = 1,
    out: Path | None = None,
) -> Iterator[str]:
    """Compute the trials of a factory's estimator and yield lines that set it beside the committed rows.

    Parameters
    ----------
    factory : str
        ``module:name`` of a class or function that, called without arguments, returns an estimator or a list.
    study : Study
        The atlas at paper scale.
    datasets : sequence of str, optional
        Labels of sets; by default all that the estimator can do and that are here.
    runs : int, optional
        Folds of each set; by default as many as are committed.
    jobs : int, default=1
        Processes.
    out : Path, optional
        The newcomer's rows; ``rank-NAME.csv`` where the command runs by default.
    """
    make, name = _load(factory), factory.partition(":")[2]
    models = _configurations(make)
    out = out or Path(f"rank-{name}.csv")
    labels, left_out = _sets(study, models, datasets)
    yield from left_out
    evidence = study.evidence("arena")
    available = study.protocol("arena")
    rows = Rows(**{field.name: available[field.name] for field in fields(Rows)})
    wanted = []
    for label in labels:
        committed = 1 + max(key.trial for key in evidence.plan.stamps if key.dataset == label)
        stamp = _stamp(make, models, rows, data_checksum(study.paper.datasets[label]))
        wanted += [(label, number, stamp) for number in range(min(runs or committed, committed))]
    own = {(row.dataset, row.trial, row.stamp): row for row in _read(out)}
    missing = [key for key in wanted if key not in own]
    older = len(study.read("arena").stale)
    yield f"committed rows: {len(evidence.current)}" + (f", {older} of older code" if older else "")
    yield f"{name}: {len(wanted)} trials on {len(labels)} sets, {len(missing)} to compute; rows in {out}"
    work = (delayed(_trial)(factory, rows, *key) for key in missing)
    with progress_bar(len(missing), name) as bar:
        for row in Parallel(n_jobs=jobs, return_as="generator")(work):
            own[row.dataset, row.trial, row.stamp] = row
            _write(out, [own[key] for key in sorted(own)])
            bar.update(1)
    mine = {label: [own[key] for key in wanted if key[0] == label] for label in labels}
    both = any(label in BINARY_SETS for label in labels) and any(label in MULTICLASS_SETS for label in labels)
    for kind in KINDS if both else KINDS[:2]:
        if some := [label for label in labels_of(evidence, kind) if label in mine]:
            yield from beside(name, study, kind, {label: mine[label] for label in some})


def beside(name: str, study: Study, kind: Kind, mine: dict[str, list[Own]]) -> Iterator[str]:
    """Yield the table of one kind of sets: ranks, errors, kilobytes, who is better with what probability."""
    found, evidence = compare(study, kind), study.evidence("arena")
    labels = [label for label in found.datasets if label in mine]
    if not labels:
        yield f"{kind}: no set has all committed rows"
        return
    values = {}
    for metric in ("error", "kilobytes"):
        theirs = [
            [
                evidence.array(metric, (label,), (method,))[: len(mine[label])].mean()
                for method in found.methods
            ]
            for label in labels
        ]
        ours = [[np.mean([row._asdict()[metric] for row in mine[label]])] for label in labels]
        values[metric] = np.hstack([ours, theirs])
    every = Comparison(tuple(labels), (name, *found.methods), values)
    size = every.typical("kilobytes")
    best = front(size, every.errors.mean(axis=0))
    yield ""
    yield f"{kind}: {len(labels)} sets, {len(every.methods)} methods; rope {ROPE:g} % of error"
    head = f"{'method':<16}{'rank':>6}{'error %':>9}{'kilobytes':>11}"
    yield f"{head}  probability that {name} is better, equal, worse"
    for place in np.argsort(every.ranks.to_numpy(), kind="stable"):
        line = f"{every.methods[place]:<16}{every.ranks.iloc[place]:6.2f}{every.errors[:, place].mean():9.2f}"
        line += f"{size[place]:11.1f}{'*' if place in best else ' '} "
        if place:
            line += "{:.2f} {:.2f} {:.2f}".format(
                *signed_rank(every.errors[:, 0] - every.errors[:, place], ROPE)
            )
        yield line.rstrip()
    yield "* no method has a smaller error and a smaller model (kilobytes: geometric mean of the pickles)"


def _load(factory: str) -> Callable:
    """Import ``module:name``; modules beside the user are found, too."""
    module, _, name = factory.partition(":")
    if not (module and name):
        raise PlanError(f"{factory!r}: write module:factory, for instance my_method:make.")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        raise PlanError(f"{factory!r}: {error}; modules in {Path.cwd()} are found, too.") from error
    if not callable(make := vars(found).get(name)):
        raise PlanError(f"{factory!r}: {module} has no class or function {name!r}.")
    return make


def _configurations(make: Callable) -> list[Any]:
    """What the factory returns, as a list of classifiers."""
    made = make()
    models = list(made) if isinstance(made, list | tuple) else [made]
    for model in models:
        if not (hasattr(model, "__sklearn_tags__") and is_classifier(model)):
            raise PlanError(
                f"{model!r} is no classifier of scikit-learn's kind: the arena's sets have classes."
            )
    return models


def _sets(study: Study, models: list[Any], asked: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The sets to run on, and lines about those left out."""
    known = study.plan("arena").datasets
    if unknown := [label for label in asked or () if label not in known]:
        raise PlanError(f"No set {unknown[0]!r}; the arena has {', '.join(known)}.")
    several = all(get_tags(model).classifier_tags.multi_class for model in models)
    chosen = [label for label in known if label in (asked or known)]
    able = [label for label in chosen if several or label in BINARY_SETS]
    dropped = [label for label in chosen if label not in able]
    lines = [f"two classes only: {len(dropped)} sets of more are left out"] if dropped else []
    absent = {label: absent_data(study.paper.datasets[label]) for label in able}
    lines += [f"{label} is left out. {remedy}" for label, remedy in absent.items() if remedy]
    return [label for label in able if not absent[label]], lines


def _stamp(make: Callable, models: list[Any], rows: Rows, data: str) -> str:
    """What a row is a function of: configurations, the factory's file, how rows are drawn, the data."""
    try:
        source = Path(inspect.getsourcefile(make)).read_text(encoding="utf-8")
    except TypeError:  # compiled
        source = ""
    configurations = [
        (type(model).__qualname__, sorted(model.get_params().items(), key=str)) for model in models
    ]
    text = "\x1f".join([repr(configurations), source, repr(rows), data])
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _trial(factory: str, rows: Rows, dataset: str, number: int, stamp: str) -> Own:
    """Choose, fit and judge on one split, on one thread as the committed rows were."""
    trial = Trial("atlas", "arena", dataset, factory, number)
    models = [_seeded(model, trial.seed()) for model in _configurations(_load(factory))]
    data = draw(trial, rows)
    with threadpool_limits(1):
        makers = [lambda model=model: clone(model) for model in models]
        chosen = choose(data, makers, rows.n_inner) if len(models) > 1 else 0
        start = process_time()
        model = clone(models[chosen]).fit(data.X, data.y)
        seconds = process_time() - start
        error = data.error(model.predict(data.X_test))
    return Own(dataset, number, error, chosen, stored_bytes(model) / 1000.0, round(seconds, 4), stamp)


def _seeded(model: Any, seed: int) -> Any:
    """A model whose random_state, where it has one and it is None, comes from the trial."""
    parameters = model.get_params()
    return model.set_params(random_state=seed) if parameters.get("random_state", 0) is None else model


def _read(path: Path) -> list[Own]:
    """The rows of a file; none where there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise PlanError(f"{path} was not written by this command: name another file with --out.")
        return [
            Own(
                *(line["dataset"], int(line["trial"]), float(line["error"]), int(line["chosen"])),
                *(float(line["kilobytes"]), float(line["fit_seconds"]), line["stamp"]),
            )
            for line in reader
        ]


def _write(path: Path, rows: list[Own]) -> None:
    """Write all rows, or leave the file as it was."""
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]
    write_atomically(path, ("\n".join(lines) + "\n").encode())
