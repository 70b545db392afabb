"""Full and read-only disks, damaged lines, clocks that jump: a clear message, and the next run recovers."""

import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
import time

import pytest
from support.faults import FULL, SEEDS
from support.processes import MODULE, WAIT, check_evidence, command, environment, evidence_file, lines
from support.slow_runs import EXHIBITS, run_to_the_end

from kernsemble.trials.study import Study

pytestmark = pytest.mark.timeout(1800)


def namespace():
    """How to mount unseen by the machine: as the superuser, or in a user namespace; None: not at all."""
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        tried = ["unshare", *options, "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
        if shutil.which("unshare") and not subprocess.run(tried, capture_output=True).returncode:
            return ["unshare", *options, "sh", "-c"]
    return None


NAMESPACE = namespace()
mounts = pytest.mark.skipif(NAMESPACE is None, reason="this machine lets nobody mount")
RUN = shlex.join(command("--no-notebook", jobs=1))


def run_mounted(root, script):
    """Run a script that may mount on the results folder; what it mounted is gone afterwards."""
    (root / "results").mkdir(exist_ok=True)
    return subprocess.run(
        [*NAMESPACE, f"set -u; {script}"],
        env=environment(root, RUN=RUN), cwd=root, capture_output=True, text=True, timeout=WAIT,
    )  # fmt: skip


@mounts
@pytest.mark.parametrize("kilobytes", [4, 8, 12] if FULL else [8])
def test_full_disk(kilobytes, slow_root, undisturbed, figure):
    """The run stops with a sentence; with more room the same command goes on with what was saved."""
    done = run_mounted(
        slow_root,
        f"""
        mount -t tmpfs -o size={kilobytes}k none results || exit 9
        $RUN; echo status $?
        cp -r results kept
        mount -o remount,size=10m results
        $RUN; echo status $?
        cp -r results after
        """,
    )
    assert done.stdout.split("status ")[1:] == ["2\n", "0\n"], done.stdout + done.stderr
    assert "the disk is full: free some space and run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    (slow_root / "results").rmdir()
    (slow_root / "kept").rename(slow_root / "results")
    saved = Study(MODULE, "paper", slow_root, compute=False).read("table1")
    assert saved.file.clean  # no half-written line
    shutil.rmtree(slow_root / "results")
    (slow_root / "after").rename(slow_root / "results")
    check_evidence(slow_root, undisturbed)
    figure("Faults", "full disk", 1, 1, "a disk of 4 to 12 kB that is enlarged later")


@mounts
def test_read_only_results(slow_root, undisturbed, figure):
    done = run_mounted(slow_root, "mount -t tmpfs -o ro none results || exit 9; $RUN; echo status $?")
    assert "status 2" in done.stdout
    assert "the file system is read-only: make it writable and run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    run_to_the_end(slow_root)
    check_evidence(slow_root, undisturbed)
    figure("Faults", "read-only results folder", 1, 1)


FULL_PLACES = {  # how, what runs, how many processes, and what is said
    "shm": ("mount -t tmpfs -o ro none /dev/shm", ["--no-notebook"], 2, "/dev/shm): Read-only"),
    "full shm": (
        "mount -t tmpfs -o size=4k none /dev/shm; head -c 4096 /dev/zero > /dev/shm/x",
        *(["--no-notebook"], 2, "/dev/shm): No space left"),
    ),
    "full tmp": (
        "mkdir t; mount -t tmpfs -o size=8k none t; head -c 4096 /dev/zero > t/x; export TMPDIR=$PWD/t",
        *([], 1, "/t/tmp"),
    ),
    "small files": (f"{RUN} || exit 8; ulimit -f 1; export TMPDIR=$PWD", [], 1, "File too large"),
}


@mounts
@pytest.mark.parametrize("what", FULL_PLACES)
def test_full_place_is_named(what, slow_root, figure):
    """Shared memory, and the folder of temporary files: not standard output, as which they were once told."""
    how, options, jobs, place = FULL_PLACES[what]
    done = run_mounted(slow_root, f"{how}; {shlex.join(command(*options, jobs=jobs))}; echo status $?")
    assert "status 0" not in done.stdout
    assert place in done.stderr
    assert "standard output" not in done.stderr
    assert "Traceback" not in done.stderr
    figure("Faults", "shared memory or temporary files that are full", 1, 1, "the place is named")


@pytest.mark.parametrize("seed", SEEDS)
def test_files_that_may_not_grow(seed, slow_root, undisturbed, figure):
    """The limit strikes in the middle of a line; the half of it is taken back."""
    limit = random.Random(seed).randint(60, 6000)

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command("--no-notebook", "--exhibit", "table1", jobs=1),
        env=environment(slow_root), cwd=slow_root, preexec_fn=small_files,
        capture_output=True, text=True, timeout=WAIT,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "ulimit -f" in done.stderr
    assert "Traceback" not in done.stderr
    path = evidence_file(slow_root)
    if path.is_file():
        assert path.stat().st_size <= limit
        assert Study(MODULE, "paper", slow_root, compute=False).read("table1").file.clean
    run_to_the_end(slow_root)
    check_evidence(slow_root, undisturbed)
    figure("Faults", "files that may not grow", 1, 1, "the limit strikes at a random byte")


@pytest.mark.parametrize("full", ["stdout", "stderr"])
def test_output_that_cannot_be_written(full, slow_root, figure):
    with open("/dev/full", "w") as device:
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, full: device}
        done = subprocess.run(
            [sys.executable, "-m", "kernsemble", "list", MODULE],
            env=environment(slow_root),
            text=True,
            **streams,
        )
    if full == "stdout":
        assert done.returncode == 1
        assert done.stderr.startswith("kernsemble: standard output: No space left on device")
        assert "Traceback" not in done.stderr
    else:
        assert done.returncode == 0
    figure("Faults", "output that cannot be written", 1, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_evidence(seed, slow_root, undisturbed, figure):
    """Bytes changed, lines cut short or torn out: what is sound is used, the rest is computed again."""
    run_to_the_end(slow_root)
    path, rng = evidence_file(slow_root), random.Random(seed)
    content = bytearray(path.read_bytes())
    position = rng.randrange(len(content))
    damage = seed % 4
    if damage == 0:
        content[position] ^= 1 << rng.randrange(8)
    elif damage == 1:
        del content[position:]
    elif damage == 2:
        del content[position : position + rng.randint(1, 200)]
    else:
        content[position:position] = rng.randbytes(rng.randint(1, 30))
    path.write_bytes(content)
    run_to_the_end(slow_root)
    check_evidence(slow_root, undisturbed)
    figure("Faults", "damaged or half-written evidence", 1, 1, "bytes changed, cut, torn out or put in")


@pytest.mark.parametrize("seed", SEEDS)
def test_clock_that_jumps(seed, slow_root, undisturbed, figure, monkeypatch):
    """Backwards and forwards by hours between any two looks at it: nothing but the seconds depends on it."""
    rng = random.Random(seed)
    for name in ("time", "perf_counter"):
        real = getattr(time, name)
        monkeypatch.setattr(time, name, lambda real=real: real() + rng.choice([-7200.0, -1.0, 0.0, 3600.0]))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    study = Study(MODULE, "paper", slow_root, jobs=1)
    study.run()
    monkeypatch.undo()
    for exhibit in EXHIBITS:
        os.utime(evidence_file(slow_root, exhibit), (0, 0) if seed % 2 else (4e9, 4e9))
    assert not Study(MODULE, "paper", slow_root).read("table1").missing
    check_evidence(slow_root, undisturbed)
    figure("Faults", "a clock that jumps", 1, 1, "by hours, both ways, between any two looks at it")


def test_results_that_are_a_file(slow_root):
    (slow_root / "results").write_text("")
    done = subprocess.run(
        command("--no-notebook", jobs=1),
        env=environment(slow_root),
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert lines(slow_root) == 0
