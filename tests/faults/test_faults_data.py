"""Data that arrive damaged or by halves: the next command says so, or mends it."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.checkouts import call, clone_to
from support.faults import FULL

everything = pytest.mark.skipif(not FULL, reason="make test-faults does it: each pull takes seconds")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A clone with its data."""
    folder = clone_to(tmp_path_factory.mktemp("clone") / "kernsemble", "--no-hardlinks")
    (folder / ".venv").symlink_to(Path(sys.prefix))
    return folder


@pytest.fixture
def clone(original):
    """The clone before its first pull."""
    for name in ("data", ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(original / name, ignore_errors=True)
    return original


def objects(folder):
    """Files of more than 1000 bytes; others may come and go meanwhile."""
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_size > 1000:
                found.append(path)
    return sorted(found)


def flip(path, seed):
    """Change a bit, as a failing disk does: size and date stay."""
    before = path.stat()
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[random.Random(seed).randrange(len(content))] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def is_complete(clone):
    verified = call(clone, "kernsemble", "data", "verify")
    return verified.returncode == 0, verified.stdout + verified.stderr


@everything
@pytest.mark.parametrize("seed", range(5))
def test_pull_is_killed(clone, seed, figure):
    pull = subprocess.Popen(
        [sys.executable, "-m", "dvc", "pull", "--quiet"],
        cwd=clone,
        env={**os.environ, "DVC_NO_ANALYTICS": "1"},
        start_new_session=True,
    )
    until = random.Random(seed).uniform(0.0, 1.0)
    end = time.monotonic() + 60
    while pull.poll() is None and not objects(clone / ".dvc/cache") and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.3 * until)
    os.killpg(pull.pid, signal.SIGKILL)
    pull.wait()
    again = call(clone, "dvc", "pull", "--quiet")
    assert again.returncode == 0, again.stderr
    complete, said = is_complete(clone)
    assert complete, said
    figure("Faults", "kill -9 of dvc pull", 1, 1, "the same command completes the data")


def test_damaged_object_of_the_cache(clone, figure):
    """DVC trusts its own copy and hands it out; `make data` finds and mends it."""
    assert call(clone, "dvc", "pull", "--quiet").returncode == 0
    victim = objects(clone / ".dvc/cache/files")[0]
    flip(victim, 0)
    shutil.rmtree(clone / "data")
    done = call(clone, "tools/data")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "copies in .dvc/cache were damaged; they are fetched again" in done.stderr
    assert "Repair: dvc pull, or make data" in done.stderr  # what the first look said
    assert victim.read_bytes() == original_object(clone, victim)
    figure("Faults", "damaged object in DVC's cache", 1, 1)


def original_object(clone, path):
    """The same object in the repository's remote."""
    return (clone / "datastore" / path.relative_to(clone / ".dvc/cache")).read_bytes()


@everything
def test_damaged_object_of_the_remote(clone, figure):
    """What the repository holds is damaged: the file is named, and never loaded."""
    victim = objects(clone / "datastore/files")[0]
    sound = victim.read_bytes()
    flip(victim, 1)
    try:
        pulled = call(clone, "dvc", "pull", "--quiet")
        complete, said = is_complete(clone)
        assert not complete
        assert "Repair: " in said
        assert "Traceback" not in said + pulled.stderr
    finally:
        victim.write_bytes(sound)
    figure("Faults", "damaged object in the data remote", 1, 1, "refused by its checksum, with the repair")
