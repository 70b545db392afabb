"""What every test shares: fixtures, and the arithmetic of trials, so that last digits repeat."""

import json
import os
import shutil
import sys
from pathlib import Path

from kernsemble.trials.arithmetic import pin_kernels

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
pin_kernels()
sys.path.append(str(Path(__file__).parents[1] / "tools"))  # the builders of datasets

import numpy as np  # noqa: E402 (threads and kernels must be settled before NumPy is loaded)
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from support.faults import FIRST, FULL, merge_figures  # noqa: E402

# A change is judged on the same examples every time; `make test-faults` looks for new ones.
settings.register_profile("same examples", derandomize=not FULL)
settings.load_profile("same examples")


@pytest.fixture(params=[0, 1, 2])
def rng(request):
    """Three seeds: properties must hold for each."""
    return np.random.default_rng(request.param)


@pytest.fixture(scope="session")
def cancer():
    """Two classes as people have them: a frame with names of features, and words for labels."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, np.where(y == 0, "malignant", "benign")


@pytest.fixture
def root(tmp_path):
    """A repository with the fake paper."""
    from support.machinery import make_repository

    return make_repository(tmp_path / "repository")


@pytest.fixture
def slow_root(tmp_path):
    """A repository with the slow paper."""
    from support.processes import make_repository

    return make_repository(tmp_path / "repository")


@pytest.fixture(scope="module")
def tiny_root(tmp_path_factory):
    """A repository with the parameters and what the papers print, and no results."""
    here, root = Path(__file__).parents[1], tmp_path_factory.mktemp("repository")
    shutil.copy(here / "params.yaml", root)
    shutil.copytree(here / "published", root / "published")
    return root


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """What the files of the slow paper's evidence say after a run that nothing disturbs."""
    from support.slow_runs import undisturbed_lines

    return undisturbed_lines(tmp_path_factory.mktemp("undisturbed") / "repository")


NOTED, PASSED, FAILED = [], set(), set()


@pytest.fixture
def figure(record_property):
    """Call to note what was tried and what came out well, for docs/reliability.md."""

    def note(section, what, tried, survived, detail=""):
        record_property("figure", [section, what, int(tried), int(survived), detail])

    return note


def pytest_report_header():
    """Say which seeds the tests of faults begin with."""
    return f"faults: KERNSEMBLE_SEED={FIRST}" if FIRST else None


def pytest_addoption(parser):
    parser.addoption(
        "--reliability", metavar="FILE", help="write the figures that the tests noted to a JSON file"
    )


def pytest_runtest_logreport(report):
    """Collect what tests noted that passed, whichever process ran them, and which of them failed."""
    if report.failed:
        FAILED.add(report.nodeid)
    elif report.when == "call" and report.passed:
        PASSED.add(report.nodeid)
        NOTED.extend((report.nodeid, *value) for name, value in report.user_properties if name == "figure")


def pytest_sessionfinish(session):
    """Write the figures; those of tests that were not run stay as they are."""
    name = session.config.getoption("--reliability")
    if not name or hasattr(session.config, "workerinput"):
        return
    path = Path(name)
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = merge_figures(before, NOTED, PASSED - FAILED, FAILED)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
