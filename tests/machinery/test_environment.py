"""pyproject.toml, requirements.lock and environment.yml agree, and the set-up script says what to do."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK_TEXT = (ROOT / "requirements.lock").read_text()
ENTRIES = re.findall(r"^([^ #].*==.*?)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", LOCK_TEXT, re.MULTILINE)
LOCK = [Requirement(pin) for pin, _ in ENTRIES]
DECLARED = [
    Requirement(text)
    for text in PROJECT["dependencies"]
    + [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    if not text.startswith(f"{PROJECT['name']}[")  # an extra that takes in others
]


def test_lock_has_exact_pins_with_digests_and_no_addresses():
    for requirement in LOCK:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), f"{requirement} is not an exact pin"
        assert requirement.url is None
    assert all(digests for _, digests in ENTRIES)
    assert len({str(pin) for pin in LOCK}) == len(LOCK)
    assert "://" not in LOCK_TEXT
    assert "".join(f"{pin}{digests}\n" for pin, digests in ENTRIES) == re.sub("#.*\n", "", LOCK_TEXT)


def test_what_reproduces_the_papers_is_the_first_part_of_the_lock():
    """With all that it needs in turn, and nothing of tests, documentation and JupyterLab."""
    first = LOCK_TEXT.partition("# The other extras")[0]
    assert "/^# The other extras/,$d" in (ROOT / "tools/setup").read_text()
    names = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", first, re.MULTILINE)}
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["reproduce"], *extras["data"], *extras["show"]]
    stack = [
        canonicalize_name(Requirement(text).name) for text in wanted if not text.startswith("kernsemble")
    ]
    reached = set()
    while stack:
        name = stack.pop()
        if name in reached:
            continue
        reached.add(name)
        assert name in names, f"{name} is not in the first part: run `make lock`"
        stack += [
            canonicalize_name(needed.name)
            for needed in map(Requirement, requires(name) or ())
            if needed.marker is None or needed.marker.evaluate({"extra": ""})
        ]
    assert "setuptools" in names  # builds the package itself
    assert not names & {
        "jupyterlab",
        "pytest",
        "sphinx",
        "opencv-python-headless",
        "scikit-posthocs",
        "cvxpy",
    }


@pytest.mark.parametrize("requirement", DECLARED, ids=str)
def test_every_declared_requirement_is_pinned_to_a_version_it_allows(requirement):
    pins = [pin for pin in LOCK if canonicalize_name(pin.name) == canonicalize_name(requirement.name)]
    assert pins, f"{requirement.name} is not in requirements.lock: run `make lock`"
    for pin in pins:
        pinned = str(pin.specifier).removeprefix("==")
        assert requirement.specifier.contains(pinned), (
            f"{pin} does not satisfy {requirement}: run `make lock`"
        )


def test_what_is_installed_is_what_is_pinned():
    environment = {**default_environment(), "extra": ""}
    wrong = {}
    for pin in LOCK:
        if pin.marker is not None and not pin.marker.evaluate(environment):
            continue
        try:
            installed = version(pin.name)
        except PackageNotFoundError:
            installed = "missing"
        if not pin.specifier.contains(installed, prereleases=True):
            wrong[str(pin)] = installed
    assert not wrong, "run `make clean` and `make test`"


def test_conda_uses_the_same_lock_and_python():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    plain = [entry for entry in conda["dependencies"] if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict)]
    assert pip == ["-r requirements.lock", "-e ."]  # a file of requirements takes no other options
    assert f"python {PROJECT['requires-python']}" in plain
    assert {entry.split()[0] for entry in plain} == {"python", "pip", "git", "make"}, (
        "pins belong in the lock"
    )


def test_set_up_script_knows_the_same_oldest_python():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    script = (ROOT / "tools/setup").read_text()
    assert f"Python {oldest} or newer" in script
    assert f"({oldest.replace('.', ', ')})" in script


@pytest.fixture
def checkout(tmp_path):
    """A folder with what `tools/setup` reads, and a directory for stand-in interpreters."""
    (tmp_path / "tools").mkdir()
    for name in ("tools/setup", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    return tmp_path


def run_setup(checkout, python, script=None, part=""):
    if script is not None:
        interpreter = checkout / "bin" / python
        interpreter.write_text(f"#!/bin/sh\n{script}\n")
        interpreter.chmod(0o755)
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHON": python}
    command = ["sh", "tools/setup", *part.split()]
    return subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True)


def assert_one_sentence(result, *words):
    assert result.returncode == 1
    message = result.stderr.strip().splitlines()[-1]
    assert message.startswith("kernsemble: ")
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("python", "script", "words"),
    [
        ("no-such-python", None, ["no-such-python", "apt install python3"]),
        (
            "oldpython",
            'case "$2" in *sys.exit*) exit 1;; *) echo 3.9;; esac',
            ["3.11 or newer", "3.9", "PYTHON="],
        ),
        (
            "bare-python",
            'case "$2" in *ensurepip*) exit 1;; *) echo 3.11;; esac',
            ["apt install python3-venv"],
        ),
    ],
)
def test_python_that_does_not_serve_is_named_with_the_remedy(checkout, python, script, words):
    assert_one_sentence(run_setup(checkout, python, script), *words)


def made_in(folder):
    """What Python writes into an environment that it makes in a folder."""
    return f"command = /usr/bin/python3 -m venv --clear {folder.resolve()}/.venv\n"


@pytest.mark.parametrize("name", ["clone", "mo ved ü 'q\" $x"])
def test_environment_of_another_place_is_made_again(checkout, tmp_path, name):
    """A clone that was moved or copied would run the code of the other place."""
    place = tmp_path / name
    place.mkdir()
    for part in ("tools", "bin", "requirements.lock", "pyproject.toml"):
        (checkout / part).rename(place / part)
    (place / ".venv/bin").mkdir(parents=True)
    python = place / ".venv/bin/python"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    state = "cat requirements.lock pyproject.toml tools/setup | cksum > .venv/.installed"
    subprocess.run(["sh", "-c", state], cwd=place, check=True)
    stub = 'case "$*" in *venv*--clear*) echo "$*" > made; exit 1;; *version_info*) echo 3.12;; esac'
    (place / ".venv/pyvenv.cfg").write_text(made_in(tmp_path / "original"))
    result = run_setup(place, "stand-in", stub)
    assert_one_sentence(result, "could not create .venv")
    assert ".venv was not made here" in result.stderr
    assert (place / "made").read_text() == "-m venv --clear .venv\n"
    (place / ".venv/pyvenv.cfg").write_text(made_in(place))
    assert run_setup(place, "stand-in", stub).returncode == 0


def test_a_part_is_enough_for_what_needs_a_part(checkout):
    """What is there is not installed again: all serves for the part, the part does not serve for all."""
    (checkout / ".venv/bin").mkdir(parents=True)
    python = checkout / ".venv/bin/python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    (checkout / ".venv/bin/pip").symlink_to(python)
    (checkout / ".venv/pyvenv.cfg").write_text(made_in(checkout))
    stamp, state = checkout / ".venv/.installed", "cat requirements.lock pyproject.toml tools/setup | cksum"
    all_of_it = subprocess.run(["sh", "-c", state], cwd=checkout, capture_output=True, text=True).stdout
    stub = 'case "$*" in *version_info*) echo 3.12;; esac'
    for there, part, done in (
        (all_of_it, "", True),
        (all_of_it, "reproduce", True),
        (f"reproduce {all_of_it}", "reproduce", True),
        (f"reproduce {all_of_it}", "", False),
    ):
        stamp.write_text(there)
        assert (run_setup(checkout, "stand-in", stub, part).returncode == 0) == done


def test_failed_install_names_the_network_and_can_be_repeated(checkout):
    bin_dir = checkout / ".venv" / "bin"
    bin_dir.mkdir(parents=True)
    for name, script in {"pip": "exit 1", "python": "echo 'ERROR: no index' >&2; exit 1"}.items():
        (bin_dir / name).write_text(f"#!/bin/sh\n{script}\n")
        (bin_dir / name).chmod(0o755)
    (checkout / ".venv" / "pyvenv.cfg").write_text(made_in(checkout))
    result = run_setup(checkout, "python3")
    assert_one_sentence(result, "package index", "same command again")
    assert "ERROR: no index" in result.stderr
    assert not (checkout / ".venv" / ".installed").exists()
