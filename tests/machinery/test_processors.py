"""The same ensembles on every computer: other processors, tried out on this one.

OpenBLAS, NumPy and numba each have code for several kinds of processor and can be told which to take. Every
method that makes choices is fitted under each; what it chose is compared exactly, numbers to what is left of
rounding.
"""

import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kernsemble.trials.arithmetic import CORE_VARIABLE

pytestmark = [
    pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="kernels of x86-64"),
    pytest.mark.timeout(300),
]
# What OpenBLAS calls the kernels it has, by the name they are asked for.
KERNELS = {"Prescott": "Katmai", "Nehalem": "Nehalem", "SkylakeX": "SkylakeX"}
REFERENCE = ("Haswell",)
SETTINGS = [(name,) for name in KERNELS] + [("Haswell", "baseline")]
DISPATCHED = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
BASELINE = {"NUMBA_CPU_NAME": "generic", "NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED)}
# Restricted problems are solved to a relative gap; what is left of it shows in the numbers, not in choices.
GAPS = {"CG-Boost": (1e-8, 1e-5)}
EXACT = (1e-10, 1e-8)


def run(**variables):
    """The answer of the program that fits, in a process with these variables."""
    program = Path(__file__).parents[1] / "support" / "every_processor.py"
    done = subprocess.run(
        [sys.executable, program], env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def fits(core, *others):
    """What the fits give with these kernels; None where the processor does not have them."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").is_file() else ""
    if core == "SkylakeX" and flags and "avx512vl" not in flags:
        return None
    answer = run(**{CORE_VARIABLE: core}, **(BASELINE if others else {}))
    return answer["found"] if answer["kernels"] == [KERNELS.get(core, core)] else None


@pytest.mark.parametrize("setting", SETTINGS, ids=" ".join)
def test_every_method_finds_the_same_ensemble(setting):
    here, reference = fits(*setting), fits(*REFERENCE)
    if here is None or reference is None:
        pytest.skip(f"this processor, or this BLAS, does not have the kernels {' '.join(setting)}")
    assert [name for name in reference if here[name]["choices"] != reference[name]["choices"]] == []
    for name, expected in reference.items():
        objective, weights = next((v for kind, v in GAPS.items() if name.startswith(kind)), EXACT)
        np.testing.assert_allclose(here[name]["objectives"], expected["objectives"], rtol=objective)
        scale = np.abs(expected["weights"]).max()
        np.testing.assert_allclose(here[name]["weights"], expected["weights"], rtol=0, atol=weights * scale)


def test_a_process_that_compiles_gives_the_bits_of_one_that_loads(tmp_path):
    first, second = (run(NUMBA_CACHE_DIR=str(tmp_path))["found"] for _ in range(2))
    assert [name for name in first if first[name] != second[name]] == []
