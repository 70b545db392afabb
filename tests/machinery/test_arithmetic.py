"""Trials have one arithmetic: the same kernels of BLAS in every process that runs them."""

import os
import platform
import subprocess
import sys

import pytest

from kernsemble.trials import arithmetic as module
from kernsemble.trials.arithmetic import CORE_TYPE, CORE_VARIABLE, arithmetic, core_type, other_kernels

needs_haswell = pytest.mark.skipif(core_type() != CORE_TYPE, reason="not an x86-64 processor with AVX2")
STUDY_IN_A_NOTEBOOK = """
import numpy, sys
from kernsemble.trials.arithmetic import arithmetic, other_kernels
from kernsemble.trials.executor import one_at_a_time, stop_pools
backend = one_at_a_time()
backend.submit([]).result()
there = backend._executor.submit(arithmetic).result()
print(other_kernels(), type(backend).__name__, there, sep="|")
stop_pools()
"""


def run(code, **variables):
    """What a program prints in a process without the variables of the tests."""
    kept = {name: value for name, value in os.environ.items() if name not in module.variables()}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_variables_can_be_set_before_numpy_is_there():
    pinning = "from kernsemble.trials.arithmetic import pin_kernels; pin_kernels()"
    assert run(f"{pinning}; import sys; print('numpy' in sys.modules)") == "False"


@needs_haswell
def test_processes_here_have_the_kernels_of_trials():
    assert other_kernels() is None
    assert arithmetic().split()[1:] == [CORE_TYPE, platform.machine()]
    assert arithmetic().startswith("openblas-0.")


@needs_haswell
def test_a_program_with_other_kernels_runs_trials_in_a_process_beside_it():
    here, backend, there = run(STUDY_IN_A_NOTEBOOK, **{CORE_VARIABLE: "Nehalem"}).split("|")
    assert (here, backend) == ("Nehalem", "ProcessPool")
    assert there == arithmetic()


@needs_haswell
def test_the_command_line_pins_its_own_process():
    code = """
import sys
from kernsemble.report import cli
from kernsemble.trials.arithmetic import arithmetic
cli.main = lambda: print(arithmetic())
from kernsemble.__main__ import main
main()
"""
    assert run(code, **{CORE_VARIABLE: "Nehalem"}) == arithmetic()


def test_nothing_is_asked_of_other_processors(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.delenv(CORE_VARIABLE, raising=False)
    module.pin_kernels()
    assert CORE_VARIABLE not in module.variables() | os.environ
    assert other_kernels() is None


def test_processors_without_avx2_are_left_alone(monkeypatch):
    monkeypatch.setattr(module, "_has_avx2", lambda: False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert core_type() is None
