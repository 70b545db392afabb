"""Workflows, and what GitHub and containers are told, name things that are there."""

import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


def commands():
    """Every command that a workflow, the image or the devcontainer runs, with its file."""
    for path in WORKFLOWS:
        for job in jobs(path).values():
            yield from ((path.name, step["run"]) for step in job["steps"] if "run" in step)
    yield "Dockerfile", (ROOT / "Dockerfile").read_text().replace('", "', " ")
    yield (
        "devcontainer",
        json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())["postCreateCommand"],
    )


def test_every_make_target_that_is_called_exists():
    lines = [line for _, run in commands() for line in re.findall(r"\bmake((?: [a-z-]+\b(?!=))+)", run)]
    called = {name for line in lines for name in line.split()}
    assert {"test", "reproduce", "site", "lab", "setup", "data"} <= called <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_are_bounded_ask_for_little_and_name_versions(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        assert set(needs) < set(workflow["jobs"]), name
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), name
            assert re.fullmatch(r"[\w./-]+@[\w./-]+", step.get("uses", "a@b")), name


def test_the_oldest_python_that_is_promised_is_tested():
    (path,) = [path for path in WORKFLOWS if path.stem == "tests"]
    tested = jobs(path)["test"]["strategy"]["matrix"]["python"]
    promised = re.search(r'requires-python = ">=(3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    assert promised[1] == tested[0]
    assert len(tested) >= 3
