"""Runs of the command line as processes that can be killed, and what must be true of their evidence."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from kernsemble.trials.study import Study
from support.machinery import without_seconds

HERE = Path(__file__).parent
MODULE = "support.slow_paper.trials"
WAIT = 600.0  # seconds that anything may take on a busy machine
READS = (
    "from kernsemble.trials.study import open_study\n"
    f"study = open_study({MODULE!r}, scale)\n"
    "print(len(study.evidence('table1').current), study.evidence('table1').complete)"
)


def make_repository(folder):
    """Lay out a repository that holds the slow paper and a notebook that asks for its evidence."""
    (folder / "published").mkdir(parents=True)
    (folder / "notebooks" / "slow_paper").mkdir(parents=True)
    shutil.copy(HERE / "slow_paper" / "params.yaml", folder)
    (folder / "published" / "published.csv").write_text("paper,exhibit,row,column,mean,spread\n")
    (folder / "published" / "claims.yaml").write_text("[]\n")
    cells = [new_code_cell('scale = "quick"', metadata={"tags": ["parameters"]}), new_code_cell(READS)]
    nbformat.write(new_notebook(cells=cells), folder / "notebooks" / "slow_paper" / "slow_paper.ipynb")
    return folder


def environment(root, **others):
    """Variables of a process that works on the repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNSEMBLE_")}
    path = os.pathsep.join([str(HERE.parent), *filter(None, [kept.get("PYTHONPATH")])])
    return {**kept, "KERNSEMBLE_ROOT": str(root), "PYTHONPATH": path, **others}


def command(*arguments, jobs=2):
    """The command that computes the paper's evidence."""
    options = ("--scale", "paper", "--jobs", str(jobs), *arguments)
    return [sys.executable, "-m", "kernsemble", "reproduce", MODULE, *options]


class Run:
    """One run, marked in its environment, so that everything that it starts can be found and ended."""

    def __init__(self, root, *arguments, jobs=2, called=None):
        self.root = root
        self.mark = f"{root.parent.name}-{time.monotonic_ns()}"
        self.errors = (root / f"errors-{self.mark}.txt").open("w+")
        self.process = subprocess.Popen(
            called or command(*arguments, jobs=jobs),
            env=environment(root, RUN_MARK=self.mark),
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            process_group=0,
            preexec_fn=heed_interrupts,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in marked(self.mark):
            kill(pid)
        self.process.wait()
        self.errors.close()

    def until(self, condition):
        """Wait until something is true, or the run ends."""
        end = time.monotonic() + WAIT
        while self.process.poll() is None and not condition():
            assert time.monotonic() < end, "nothing happens"
            time.sleep(0.01)

    def finished(self):
        """Wait for the end; return the exit status and what was said on standard error."""
        status = self.process.wait(timeout=WAIT)
        return status, self.said()

    def said(self):
        """Return what was said on standard error so far."""
        return Path(self.errors.name).read_text()

    def members(self, word=""):
        """Processes that the run has started, by a word of their command line."""
        return [pid for pid in marked(self.mark) if pid != self.process.pid and word in told(pid)]

    def gone(self):
        """Wait until no process of the run is left."""
        self.process.wait(timeout=WAIT)
        end = time.monotonic() + 0.2 * WAIT
        while left := marked(self.mark):
            assert time.monotonic() < end, f"still there: {[told(pid) for pid in left]}"
            time.sleep(0.02)


def heed_interrupts():
    """Tests in the background of a shell ignore ^C, those under nohup SIGHUP: what they start would, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def marked(mark):
    """Living processes that were started with a mark; a dead one has no environment."""
    sought, found = f"RUN_MARK={mark}\0".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if sought in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def told(pid):
    """Command line of a process; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def kill(pid):
    """Kill -9, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def evidence_file(root, exhibit="table1"):
    """Where the evidence of an exhibit is."""
    return root / "results" / "paper" / "slow_paper" / "evidence" / f"{exhibit}.csv"


def lines(root, exhibit="table1"):
    """How many whole lines a file of evidence has."""
    path = evidence_file(root, exhibit)
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def random_moment(seed, most=110):
    """When to strike: while the processes start, or after so many lines and a moment more."""
    rng = random.Random(seed)
    if rng.random() < 0.2:
        return 0, rng.uniform(0.0, 2.5)
    return rng.randint(1, most), rng.uniform(0.0, 0.05)


def strike(run, moment, victims):
    """Kill some processes of a run at a moment; return how many there were."""
    after, pause = moment
    run.until(lambda: lines(run.root) >= after)
    time.sleep(pause)
    chosen = victims(run)
    for pid in chosen:
        kill(pid)
    return len(chosen)


def check_evidence(root, expected):
    """Complete, nothing twice, no litter, and equal to an undisturbed run but for the seconds."""
    study = Study(MODULE, "paper", root, compute=False)
    for exhibit in study.exhibits:
        found = study.read(exhibit)
        assert found.complete, found.status
        assert found.file.clean
        rows = found.file.rows
        assert len(rows) == len({row.key for row in rows}) == len(found.plan.stamps)
        assert without_seconds(study.path(exhibit)) == expected[exhibit]
    folder = study.folder / "evidence"
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.csv" for name in study.exhibits)
