"""``make reproduce`` is stopped or killed at any place of the chain of programs: nobody goes on alone."""

import os
import signal
import subprocess
import sys

import pytest
from support.checkouts import make_checkout
from support.faults import SEEDS
from support.processes import MODULE, Run, check_evidence, lines, marked, random_moment, told
from support.slow_runs import run_to_the_end

from kernsemble.trials.study import Study

pytestmark = pytest.mark.timeout(1800)
WORDS = {  # of the command line of a program in the chain
    "make": "make reproduce",
    "script": "tools/reproduce",
    "dvc": "-m dvc repro",
    "run": "-m kernsemble reproduce",
}
ALL_END = "^C, SIGTERM, SIGKILL: all that was started ends, nothing more begins"
# Who is struck, with what, when make reproduces at which scale.
STRIKES = [
    *[("quick", who, how) for who in ("make", "script", "run") for how in (signal.SIGTERM, signal.SIGKILL)],
    *[("paper", who, how) for who in ("make", "script", "dvc") for how in (signal.SIGTERM, signal.SIGKILL)],
    *[("paper", "run", how) for how in (signal.SIGTERM, signal.SIGKILL)],
    *[(scale, "all", how) for scale in ("quick", "paper") for how in (signal.SIGINT, signal.SIGTERM)],
]


@pytest.fixture
def checkout(slow_root):
    return make_checkout(slow_root)


def reproduce(checkout, scale):
    """Start ``make reproduce``, as a shell does: in a process group of its own."""
    return Run(checkout, called=["make", "reproduce", f"SCALE={scale}"])


def pids(run, who):
    """Processes of one program of the chain, the first that was started first."""
    return sorted(
        pid for pid in marked(run.mark) if WORDS[who] in told(pid) and "spawn_main" not in told(pid)
    )


def check_that_it_goes_on(checkout, undisturbed):
    """Nothing is lost and nothing stands in the way of the next run."""
    run_to_the_end(checkout)
    check_evidence(checkout, undisturbed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("scale", "who", "how"), STRIKES, ids=lambda value: getattr(value, "name", value))
def test_whoever_is_struck_all_end(scale, who, how, seed, checkout, undisturbed, figure):
    after, _ = random_moment(seed, most=40)
    with reproduce(checkout, scale) as run:
        run.until(lambda: lines(checkout) > after)
        struck = pids(run, "run" if who == "all" else who)[:1] if pids(run, "run") else []
        for pid in struck:  # none: on a busy machine it was done before
            os.killpg(run.process.pid, how) if who == "all" else os.kill(pid, how)
        run.gone()
        said = run.said()
        assert bool(run.process.returncode) == bool(struck)
    if not struck:
        return
    assert not (checkout / "judged").exists()  # nothing more is begun
    if (who, how) != ("run", signal.SIGKILL):  # a worker that is just starting says that it was left alone
        assert "Traceback" not in said, said
        done = Study(MODULE, "paper", checkout, compute=False).read("figure1").complete
        assert "stopped" in said or done
    check_that_it_goes_on(checkout, undisturbed)
    figure("Faults", "signals to make, DVC, their script or the run", 1, 1, ALL_END)


@pytest.mark.parametrize(
    ("who", "how"),
    [
        *[("all", how) for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)],
        *[(who, signal.SIGKILL) for who in ("make", "run")],
    ],
)
def test_stopped_while_its_notebook_runs(who, how, checkout, undisturbed, figure):
    """The kernel and its workers end, too."""
    with reproduce(checkout, "quick") as run:
        run.until(lambda: run.members("ipykernel"))
        os.killpg(run.process.pid, how) if who == "all" else os.kill(pids(run, who)[0], how)
        run.gone()
        if how != signal.SIGHUP:  # the resource tracker of Python's pools does not expect that
            assert "Traceback" not in run.said(), run.said()
    assert not (checkout / "judged").exists()
    check_that_it_goes_on(checkout, undisturbed)
    figure("Faults", "signals while a notebook runs", 1, 1, "its kernel ends, too")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_dvc_that_nobody_but_a_person_called(how, checkout, undisturbed, figure):
    with Run(
        checkout, called=["sh", "-c", "PATH=$PWD/.venv/bin:$PATH exec .venv/bin/dvc repro render"]
    ) as run:
        run.until(lambda: lines(checkout) > 3)
        os.kill(pids(run, "dvc")[0], how)
        run.gone()
        assert "Traceback" not in run.said(), run.said()
    check_that_it_goes_on(checkout, undisturbed)
    figure("Faults", "signals to make, DVC, their script or the run", 1, 1, ALL_END)


def test_second_one_is_refused_while_the_first_goes_on(checkout, undisturbed):
    with reproduce(checkout, "quick") as first:
        first.until(lambda: lines(checkout) > 3)
        (at_work, *_) = pids(first, "run")
        os.kill(at_work, signal.SIGSTOP)  # so that it is still at work, however slow the machine
        with reproduce(checkout, "quick") as second:
            status, said = second.finished()
        os.kill(at_work, signal.SIGCONT)
        assert status == 2
        assert f"Another run (process {at_work}) is writing" in said
        assert first.finished()[0] == 0, first.said()
    check_evidence(checkout, undisturbed)


def test_make_that_died_before_the_run_began(checkout):
    """The script would go on with the next program: it does not begin."""
    with Run(checkout, called=["sh", "-c", "KERNSEMBLE_CALLER=999999999 tools/reproduce quick"]) as run:
        status, said = run.finished()
    assert status == 1
    assert "stopped, because make has ended" in said
    assert lines(checkout) == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_when_all_is_done_and_the_interpreter_ends(how):
    """No traceback out of the interpreter's own threads, which end after the command."""
    source = f"""
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a shell's background jobs ignore some
    signal.signal(number, signal.SIG_DFL)
from kernsemble.__main__ import main
sys.argv = ["kernsemble", "list", "--help"]
try:
    main()
finally:
    os.kill(os.getpid(), {int(how)})
"""
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -how
    assert not ended.stderr
