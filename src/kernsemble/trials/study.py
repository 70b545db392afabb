"""A study joins plan, executor and store: ask it for evidence, and what is missing is computed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from kernsemble.trials.errors import FailedError, PlanError, note, progress_bar
from kernsemble.trials.evidence import Evidence, Store, only_writer, write_atomically
from kernsemble.trials.executor import Backend, Report, execute, one_at_a_time, process_pool, usable_cores
from kernsemble.trials.plan import SCALES, ExhibitPlan, Job, Key, read_params
from kernsemble.trials.registry import load_paper
from kernsemble.trials.warrants import SAME_SOURCE, Standing, Warrants, read_adoptions

FINGERPRINTS = Path("results", "fingerprints")


class TrialsFailedError(FailedError):
    """Some trials raised; the others were computed and saved."""


class Study:
    """A paper at one scale, with its evidence.

    One job runs the trials in this process, ``cluster`` is the address of a Dask scheduler. Evidence that is
    missing when it is asked for is computed, if ``compute`` says so; with ``older``, rows of older code are
    shown where there are none of today's, and nothing is computed. ``exhibits`` are the names of all, in the
    paper's order, ``choices`` what the paper leaves open, and what was chosen.
    """

    def __init__(
        self,
        key: str,
        scale: str,
        root: Path,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        compute: bool = True,
        older: bool = False,
    ) -> None:
        if scale not in SCALES:
            raise PlanError(f"No scale {scale!r}; there are {', '.join(SCALES)}.")
        self.module = key
        self.paper = load_paper(key)
        self.params = read_params(root / "params.yaml", self.paper)
        self.key = self.paper.key
        self.title = self.paper.title
        self.exhibits = tuple(self.paper.exhibits)
        self.choices = self.params.choices
        self.scale = scale
        self.root = root
        self.folder = root / "results" / scale / self.key
        self.adoptions_file = root / "results" / "adoptions.csv"
        self.jobs = jobs
        self.cluster = cluster
        self.compute = compute and not older
        self.older = older
        self._plans: dict[str, ExhibitPlan] = {}
        self.asked: dict[str, Evidence] = {}

    def plan(self, exhibit: str) -> ExhibitPlan:
        """Return which trials of an exhibit the scale runs."""
        if exhibit not in self.exhibits:
            raise PlanError(f"{self.key} has no exhibit {exhibit!r}; it has {', '.join(self.exhibits)}.")
        if exhibit not in self._plans:
            declared = self.paper.exhibits[exhibit]
            self._plans[exhibit] = ExhibitPlan(self.paper, declared, self.params, self.scale)
        return self._plans[exhibit]

    def protocol(self, exhibit: str) -> dict[str, Any]:
        """Return the parameters of an exhibit, choices included."""
        return self.params.available(self.plan(exhibit).exhibit.name)

    def path(self, exhibit: str) -> Path:
        """Return the file of an exhibit's evidence."""
        return self.folder / "evidence" / f"{exhibit}.csv"

    def warrants(self, exhibit: str) -> Warrants:
        """Return the adoptions of an exhibit's committed rows; smaller scales are there to verify those."""
        lines = read_adoptions(self.adoptions_file) if self.scale == "paper" else ()
        lines = [line for line in lines if (line.paper, line.exhibit) == (self.key, exhibit)]
        if self.plan(exhibit).exhibit.is_timing:
            for line in lines:
                if line.kind != SAME_SOURCE:
                    raise PlanError(f"{self.adoptions_file}: {line}: seconds are measured, never adopted.")
        return Warrants(lines)

    def store(self, exhibit: str) -> Store:
        """Return the files of an exhibit's evidence."""
        fallen = self.root / ".cache" / "rows" / self.scale / self.key / f"{exhibit}.csv"
        return Store(self.path(exhibit), fallen, self.plan(exhibit), self.warrants(exhibit))

    def read(self, exhibit: str) -> Evidence:
        """Read an exhibit's evidence as it is on the disk."""
        return self.store(exhibit).read()

    @property
    def standing(self) -> Standing:
        """How the rows of all exhibits stand."""
        found = (self.asked.get(name) or self.read(name) for name in self.exhibits)
        return sum((evidence.standing for evidence in found), Standing())

    @property
    def committed(self) -> Study:
        """The paper with its committed evidence, which nothing is computed for."""
        return Study(self.module, "paper", self.root, compute=False)

    def evidence(self, exhibit: str) -> Evidence:
        """Return an exhibit's evidence; missing rows are computed first, unless the study only reads."""
        if exhibit not in self.asked:
            found = self.read(exhibit)
            if self.compute and found.missing:
                report = self.run([exhibit])
                raise_on_failures(report)
                found = self.read(exhibit)
            self.asked[exhibit] = found.with_older() if self.older else found
        return self.asked[exhibit]

    def run(
        self,
        exhibits: Iterable[str] | None = None,
        *,
        fresh: bool = False,
        keys: Collection[Key] | None = None,
    ) -> Report:
        """Compute what is missing of some exhibits (all by default), or with ``fresh`` everything anew.

        With ``keys``, of these rows only. Trials that raise are reported; the others are computed.
        Interrupted, it goes on from there the next time.
        """
        chosen = [self.plan(name) for name in (self.exhibits if exhibits is None else exhibits)]
        report = Report()
        with only_writer(self.folder / "evidence"):
            for plan in chosen:
                report.merge(self._run_exhibit(plan, fresh=fresh, keys=keys))
        self._write_failures(report)
        return report

    def _run_exhibit(self, plan: ExhibitPlan, *, fresh: bool, keys: Collection[Key] | None) -> Report:
        name = plan.exhibit.name
        self.asked.pop(name, None)
        store = self.store(name)
        if fresh:
            store.forget(plan.absent)
        found = store.read()
        for line in store.complaints(found):
            note(line)
        if not fresh:
            found = store.recall(found, keys)
        wanted = [key for key in found.missing if keys is None or key in keys]
        # workers of a cluster may have the data that are not here
        absent = {} if self.cluster or not wanted else plan.absent
        jobs = plan.jobs(key for key in wanted if key.dataset not in absent)
        for label in absent:
            if count := sum(key.dataset == label for key in wanted):
                note(f"{self.key} {name}: {count} trials on {label} wait for data. {absent[label]}")
        report = Report()
        if jobs:
            if late := sum(key in found.stale for key in wanted):
                note(f"{self.key} {name}: {late} stale rows are computed again.")
            backend = self._backend(jobs, alone=plan.exhibit.alone)
            with store.append(found) as append, progress_bar(len(jobs), f"{self.key} {name}") as bar:
                report = execute(
                    jobs, backend, lambda done: append(row for o in done for row in o.rows), bar.update
                )
        store.settle()
        return report

    def _backend(self, jobs: list[Job], *, alone: bool) -> Backend:
        if alone or (len(jobs) == 1 and not self.cluster):
            return one_at_a_time()
        if self.cluster:
            return self._cluster
        return one_at_a_time() if self.jobs == 1 else process_pool(self.jobs)

    @cached_property
    def _cluster(self) -> Backend:
        from kernsemble.trials.cluster import DaskCluster

        return DaskCluster(self.cluster)

    def _write_failures(self, report: Report) -> None:
        path = self.folder / "failures.txt"
        if report.failures:
            text = "\n".join(f"{job}\n{error}" for job, error in report.failures.items())
            write_atomically(path, text.encode())
        else:
            path.unlink(missing_ok=True)


def raise_on_failures(report: Report) -> None:
    """Raise with the keys of the trials that failed, if any did."""
    if report.failures:
        shown = [f"  {job}: {error.strip().splitlines()[-1]}" for job, error in report.failures.items()]
        more = [f"  and {len(shown) - 20} more"] if len(shown) > 20 else []
        raise TrialsFailedError("\n".join([f"{len(shown)} trials failed:", *shown[:20], *more]))


def find_root() -> Path:
    """Return the repository: KERNSEMBLE_ROOT, or the nearest folder above that holds ``params.yaml``."""
    named = os.environ.get("KERNSEMBLE_ROOT")
    start = Path(named) if named else Path.cwd()
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / "params.yaml").is_file():
            refuse_other_code(folder)
            return folder
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "params.yaml").is_file() and not named:
        return checkout
    raise PlanError(f"No params.yaml in {start} or above: run this inside a clone of the repository.")


def refuse_other_code(folder: Path) -> None:
    """Raise ``PlanError`` in a clone whose code is not what runs here: its results would not be its own."""
    own, here = folder / "src" / "kernsemble", Path(__file__).resolve().parents[1]
    if (own / "__init__.py").is_file() and own.resolve() != here:
        raise PlanError(
            f"The code that runs here is that of {here}, not of {own}. Run `make setup` in {folder}, call "
            f"{folder / '.venv/bin/python'}, and take other folders out of PYTHONPATH."
        )


def open_study(key: str, scale: str = "quick") -> Study:
    """Open a paper, such as "linli2005", at a scale; see `Study`.

    The environment variable KERNSEMBLE_SCALE takes precedence over the scale. KERNSEMBLE_JOBS is the number
    of processes, KERNSEMBLE_CLUSTER the address of a Dask scheduler, and KERNSEMBLE_COMPUTE=0 says that
    nothing is computed. The repository is found from the current folder.
    """
    study = Study(
        key,
        os.environ.get("KERNSEMBLE_SCALE") or scale,
        find_root(),
        jobs=number_of_jobs(),
        cluster=os.environ.get("KERNSEMBLE_CLUSTER") or None,
        compute=os.environ.get("KERNSEMBLE_COMPUTE") != "0",
        older=os.environ.get("KERNSEMBLE_OLDER") == "1",
    )
    if study.older and study.standing.stale:
        show_age(study)
    return study


def show_age(study: Study) -> None:
    """Say at the head of an article that it shows rows which today's code has not computed."""
    from IPython.display import Markdown, display

    standing = study.standing
    told = (
        f"> **Older evidence.** {standing.stale:,} of the {standing.total:,} rows behind this article come "
        "from earlier code, and are to be computed again. They are shown; the ledger calls what hangs on "
        "them stale."
    )
    display(Markdown(told))


def number_of_jobs(jobs: int | None = None) -> int:
    """Return the number of processes to use: the given one, KERNSEMBLE_JOBS, or the processor's cores."""
    if jobs is None:
        text = os.environ.get("KERNSEMBLE_JOBS") or str(usable_cores())
        if not text.isdecimal():
            raise PlanError(f"KERNSEMBLE_JOBS is {text!r}; it must be a number of processes, 1 or more.")
        jobs = int(text)
    if jobs < 1:
        raise PlanError(f"jobs is {jobs}; it must be 1 or more.")
    return jobs


def fingerprint(study: Study) -> str:
    """Return what the rows of a study must come from: JSON, a line for each trial function.

    A line has the identity of the code, how many rows there are, and a digest of what these must carry
    (names, code, parameters, data). So DVC, which depends on it, calls evidence out of date exactly when a
    row is; and a commit shows which trial functions it reaches.
    """
    functions: dict[str, list[Job]] = {}
    for job in (job for name in study.exhibits for job in study.plan(name).jobs()):
        functions.setdefault(f"{job.exhibit}/{job.function}", []).append(job)
    lines = []
    for name, jobs in sorted(functions.items()):
        rows = sorted(repr((*key, *job.stamp)) for job in jobs for key in job.keys)
        digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:10]
        entry = {"code": jobs[0].stamp.code, "rows": len(rows), "digest": digest}
        lines.append(f"{json.dumps(name)}: {json.dumps(entry)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_fingerprints(keys: Iterable[str], root: Path) -> Iterator[str]:
    """Write the fingerprints of some papers that are not as they should be, and yield the keys of these."""
    for study in (Study(key, "paper", root) for key in keys):
        if write_atomically(root / FINGERPRINTS / f"{study.key}.json", fingerprint(study).encode()):
            yield study.key
