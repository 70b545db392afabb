"""Runs, workers and kernels that are killed at random moments: nothing is lost, nothing comes twice."""

import os
import random
import signal
import subprocess

import pytest
from support.faults import SEEDS
from support.processes import (
    MODULE,
    WAIT,
    Run,
    check_evidence,
    command,
    environment,
    lines,
    random_moment,
    strike,
)
from support.slow_runs import run_to_the_end

from kernsemble.trials.study import Study

pytestmark = pytest.mark.timeout(1800)


def go_on(root, seed=0, *arguments):
    """Run it again, to the end; the whole command for one seed, what it calls for the others."""
    if seed:
        run_to_the_end(root)
        return
    again = subprocess.run(
        command(*arguments), env=environment(root), cwd=root, capture_output=True, text=True, timeout=WAIT
    )
    assert again.returncode == 0, again.stderr


def itself(run):
    """The run's own process, if it has not ended."""
    return [run.process.pid] if run.process.poll() is None else []


@pytest.mark.parametrize("seed", SEEDS)
def test_run_is_killed(seed, slow_root, undisturbed, figure):
    with Run(slow_root, "--no-notebook") as run:
        struck = strike(run, random_moment(seed), itself)
        run.gone()  # its workers do not outlive it
    go_on(slow_root, seed, "--no-notebook")
    check_evidence(slow_root, undisturbed)
    figure("Faults", "kill -9 of the run", struck, struck, "workers end too; the next run goes on")


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_run_is_killed_again_and_again(seed, slow_root, undisturbed, figure):
    """The dead runs' lock, half-written lines and temporary files hinder no later run."""
    struck = 0
    for time in range(3):
        with Run(slow_root, "--no-notebook") as run:
            after, pause = random_moment(1000 * seed + time, most=40)
            moment = lines(slow_root) + after, pause
            struck += strike(run, moment, itself)
            run.gone()
    go_on(slow_root, seed, "--no-notebook")
    check_evidence(slow_root, undisturbed)
    figure(
        "Faults",
        "kill -9 of one run after the other",
        struck,
        struck,
        "three kills in a row, then to the end",
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_worker_is_killed(seed, slow_root, undisturbed, figure):
    """The run replaces it and ends well by itself."""

    def one_worker(run):
        workers = run.members("spawn_main")
        return random.Random(seed).sample(workers, min(1, len(workers)))

    after, pause = random_moment(seed, most=90)
    with Run(slow_root, "--no-notebook") as run:
        struck = strike(run, (max(1, after), pause), one_worker)
        status, said = run.finished()
        run.gone()
    assert status == 0, said
    check_evidence(slow_root, undisturbed)
    figure("Faults", "kill -9 of one worker", struck, struck, "the same run ends well")


@pytest.mark.parametrize("seed", SEEDS)
def test_notebook_kernel_is_killed(seed, slow_root, undisturbed, figure):
    """The kernel computes what its notebook asks for; killed, it is named, and the next run goes on."""
    Study(MODULE, "paper", slow_root, jobs=1).run(["figure1"])
    after, pause = random_moment(seed, most=90)
    arguments = ("--exhibit", "figure1")
    with Run(slow_root, *arguments) as run:
        run.until(lambda: run.members("ipykernel"))
        struck = strike(run, (after, pause), lambda run: run.members("ipykernel"))
        status, said = run.finished()
        run.gone()
    if status:
        assert status == 1
        assert "its kernel died; run the same command again" in said
        assert "Traceback" not in said
    go_on(slow_root, seed, *arguments)
    check_evidence(slow_root, undisturbed)
    figure("Faults", "kill -9 of the notebook's kernel", struck, struck, "a message; the next run goes on")


def test_two_runs_at_once(slow_root, undisturbed, figure):
    """The second one says who is at work, and harms nothing."""
    with Run(slow_root, "--no-notebook") as first:
        first.until(lambda: lines(slow_root) > 3)
        os.kill(first.process.pid, signal.SIGSTOP)  # so that it is still at work, however slow the machine
        with Run(slow_root, "--no-notebook") as second:
            status, said = second.finished()
        os.kill(first.process.pid, signal.SIGCONT)
        assert status == 2
        assert f"Another run (process {first.process.pid}) is writing" in said
        assert "Traceback" not in said
        assert first.finished()[0] == 0
    check_evidence(slow_root, undisturbed)
    figure("Faults", "two runs at once", 1, 1, "the second run is refused, naming the process of the first")
