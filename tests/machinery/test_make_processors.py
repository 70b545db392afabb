"""``make test-processors`` computes under the kernels that it names, and tells every difference."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("processors", ROOT / "tools" / "processors.py")
processors = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(processors)

FIT = {"choices": ["a", "b", "c"], "objectives": [3.0, 2.0, 1.0]}


def test_kernel_that_is_not_here_is_not_taken_for_another():
    assert not processors.has_kernel("NoSuchProcessor")


@pytest.mark.parametrize(
    ("label", "changed", "told"),
    [
        ("CGEns", {}, ""),
        ("CGEns", {"objectives": [3.0, 2.0, 1.0 + 1e-11]}, ""),
        (
            "CGEns",
            {"objectives": [3.0, 2.0, 1.0 + 1e-9]},
            "the same choices, objectives within a relative 1.0e-09",
        ),
        ("CG-Boost, l1", {"objectives": [3.0, 2.0, 1.0 + 1e-9]}, ""),
        ("CGEns", {"choices": ["a", "c", "b"]}, "choices part"),
        ("CGEns", {"choices": ["a", "b"]}, "choices part"),
        ("CGEns", {"objectives": [3.0, 2.0]}, "3 and 2 objectives"),
        (
            "CGEns",
            {"objectives": [3.0, 2.0, float("nan")]},
            "the same choices, objectives within a relative nan",
        ),
    ],
)
def test_every_difference_is_told(label, changed, told):
    assert processors.difference(label, FIT, FIT | changed) == told


@pytest.mark.parametrize("kernel", ["Haswell-plain", "Prescott"])
def test_kernels_reach_the_process(kernel):
    if not processors.has_kernel(kernel):
        pytest.skip(f"OpenBLAS has no {kernel} kernels on this processor")
    names = "OPENBLAS_CORETYPE", "KERNSEMBLE_CORETYPE", "NUMBA_CPU_NAME"
    show = f"import os; print(*(os.environ.get(name) for name in {names}))"
    told = processors.run(sys.executable, "-c", show, kernel=kernel).stdout.split()
    name, plain = kernel.partition("-")[::2]
    assert told == [name, name, "generic" if plain else "None"]


def test_libraries_may_call_the_same_kernels_by_two_names():
    assert processors.ran_with("Prescott", ["Katmai", "Prescott"])
    assert processors.ran_with("Haswell-plain", ["Haswell"])
    assert not processors.ran_with("Haswell", ["Haswell", "SkylakeX"])
    assert not processors.ran_with("Haswell", [])


def test_trials_under_another_kernel_than_asked_for_have_failed(monkeypatch):
    said = json.dumps({"kernels": ["SkylakeX"], "failed": ["table1: ValueError"]})
    done = subprocess.CompletedProcess([], 0, stdout=said + "\n", stderr="")
    monkeypatch.setattr(processors, "run", lambda *command, kernel: done)
    assert processors.compute(("Haswell", "bi2004")) == [
        "Haswell, bi2004: ran with the kernels of SkylakeX instead"
    ]
    assert processors.compute(("SkylakeX", "bi2004")) == ["SkylakeX, bi2004: table1: ValueError"]


@pytest.mark.parametrize(
    ("programs", "missing"),
    [((), "'apt-get' was not found"), (("apt-get", "dpkg", "dpkg-deb"), ".venv is missing: make setup")],
)
def test_emulation_says_what_it_lacks(tmp_path, programs, missing):
    (tmp_path / "tools").mkdir()
    for name in ("tools/arm64", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("sh", "cat", "cksum", "dirname"):
        (path / name).symlink_to(shutil.which(name))
    for name in programs:
        (path / name).write_text("#!/bin/sh\nexit 1\n")
        (path / name).chmod(0o755)
    command = [tmp_path / "tools/arm64", "program.py"]
    done = subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True)
    assert done.returncode == 3
    assert f"no emulated ARM64: {missing}" in done.stderr
