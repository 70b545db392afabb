"""A checkout whose ``make reproduce`` computes the slow paper: the project's Makefile, scripts and DVC."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.processes import MODULE

ROOT = Path(__file__).parents[2]
PYTHON = f"""#!/bin/sh
# the paper at hand, where `make reproduce` says all
case "$*" in
    *"data verify"*) echo verified; exit 0 ;;
    *"reproduce all"*) set -- -m kernsemble reproduce {MODULE} --scale paper --jobs 2 ;;
    *ledger*) set -- -c "from kernsemble.trials.lifeline import watch; watch(); open('judged', 'w')" ;;
esac
exec "{sys.executable}" "$@"
"""
DVC = f"""#!/bin/sh
case "$1" in
    pull | config) exit 0 ;;
esac
export DVC_NO_ANALYTICS=1
exec "{sys.executable}" -m dvc "$@"
"""
PIPELINE = f"""stages:
  render:
    cmd: python -m kernsemble reproduce {MODULE} --scale paper --jobs 2 --no-notebook
  ledger:
    cmd: python -m kernsemble ledger
    always_changed: true
"""


def make_checkout(root):
    """Put what ``make`` needs into a repository that holds the slow paper; its .venv stands ready."""
    shutil.copy(ROOT / "Makefile", root)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__", "datasets"))
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    (root / "dvc.yaml").write_text(PIPELINE)
    make_environment(root)
    for command in (["git", "init", "--quiet"], [sys.executable, "-m", "dvc", "init", "--quiet"]):
        subprocess.run(command, cwd=root, check=True, env={**os.environ, "DVC_NO_ANALYTICS": "1"})
    return root


def clone_to(folder, *options):
    """Clone the repository."""
    subprocess.run(["git", "clone", "--quiet", *options, ROOT.as_uri(), str(folder)], check=True)
    return folder


def call(clone, *command, **variables):
    """Run a program in a clone, with the clone's sources and no way to a network."""
    if command[0] in ("dvc", "kernsemble"):
        command = (sys.executable, "-m", *command)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNSEMBLE_")}
    kept |= {"PYTHONPATH": str(clone / "src"), "DVC_NO_ANALYTICS": "1"}
    kept |= dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9") | variables
    return subprocess.run(command, cwd=clone, env=kept, capture_output=True, text=True, timeout=600)


def make_environment(root, python=PYTHON, dvc=DVC):
    """Write a .venv whose programs hand over to those of the tests; `tools/setup` finds nothing to do."""
    programs = root / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, text in {"python": python, "dvc": dvc}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (root / ".venv" / "pyvenv.cfg").write_text(f"command = python3 -m venv --clear {root.resolve()}/.venv\n")
    state = "cat requirements.lock pyproject.toml tools/setup | cksum > .venv/.installed"
    subprocess.run(["sh", "-c", state], cwd=root, check=True)
