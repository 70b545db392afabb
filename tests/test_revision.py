"""The revision of a trial follows the code behind its numbers, and nothing else."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from machinery import reload_paper, write_package

from kernsemble.experiments.errors import PlanError
from kernsemble.experiments.registry import available_papers, load_paper
from kernsemble.experiments.revision import revision, serialize

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from matrix import find_pythons  # noqa: E402

TRIALS = '''
"""Docstring."""
from kernsemble.experiments.registry import Paper
from kernsemble.experiments.trial import Trial
from PACKAGE.solver import solve
import PACKAGE.other as other

FACTOR = 2
UNUSED = 3
TABLE = {}
TABLE["a"] = 1

paper = Paper("tiny", title="A tiny paper", datasets={"x": None})
paper.exhibit("table1", "t", metrics=("error",))
paper.exhibit("table2", "t", metrics=("error",))


def scale(value):
    """Docstring."""
    return FACTOR * value  # a comment


@paper.trials("table1", methods=("first",))
def first(trial: Trial, *, n: int):
    return {"error": scale(solve(n))}


@paper.trials("table2", methods=("second",))
def second(trial: Trial, *, n: int):
    from PACKAGE.lazy import late

    return {"error": other.value(n) + TABLE["a"] + late}
'''
SOLVER = '''
"""Doc."""
from .base import start, table


class Machine:
    def run(self, n):
        return helper(n) + len(table)


def helper(n):
    return start + n


def solve(n):
    """Doc."""
    return Machine().run(n)


def another(n):
    return n
'''
BASE = """
import warnings

warnings.filterwarnings("ignore")
start = 1
table = {}


def register(name):
    return lambda function: table.setdefault(name, function)


@register("double")
def double(n):
    return 2 * n


for letter in "ab":
    print(letter, end="")
"""
SOURCES = {
    "trials": TRIALS,
    "solver": SOLVER,
    "base": BASE,
    "other": "def value(n):\n    return n\n",
    "lazy": "late = 1\n",
    "unrelated": "x = 1\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    return tmp_path / write_package(tmp_path, monkeypatch, **SOURCES)


def revisions(package):
    functions = reload_paper(package.name).functions
    return [revision(functions[name][0].function) for name in ("table1", "table2")]


def edit(package, module, old, new):
    path = package / f"{module}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("module", "old", "new", "changed"),
    [
        ("trials", "# a comment", "# another, longer comment", []),
        ("trials", '"""Docstring."""', '"""Other words."""', []),
        ("trials", "UNUSED = 3", "UNUSED = 4", []),
        ("trials", '"A tiny paper"', '"Another title"', []),
        ("trials", 'methods=("first",)', 'methods=("first", "third")', []),
        ("trials", "n: int", "n: float", []),
        ("unrelated", "x = 1", "x = 2", []),
        ("trials", "FACTOR = 2", "FACTOR = 3", ["table1"]),
        ("trials", "FACTOR * value", "FACTOR + value", ["table1"]),
        ("solver", "start + n", "start - n", ["table1"]),
        ("solver", "len(table)", "len(table) + 1", ["table1"]),
        ("solver", "    return n\n", "    return -n\n", []),
        ("base", "2 * n", "3 * n", ["table1"]),
        ("base", '"ab"', '"abc"', ["table1"]),
        ("solver", '"""Doc."""', '"""Longer documentation."""', []),
        ("base", "start = 1", "start = 1.0", ["table1"]),
        ("other", "return n", "return -n", ["table2"]),
        ("lazy", "late = 1", "late = 2", ["table2"]),
        ("trials", 'TABLE["a"] = 1', 'TABLE["a"] = 2', ["table2"]),
    ],
)
def test_revision_changes_exactly_where_numbers_may(package, module, old, new, changed):
    before = revisions(package)
    edit(package, module, old, new)
    after = revisions(package)
    different = [name for name, a, b in zip(("table1", "table2"), before, after, strict=True) if a != b]
    assert different == changed


def test_revision_is_short_and_repeats(package):
    first = revisions(package)
    assert first == revisions(package)
    assert all(len(text) == 10 for text in first)


def test_import_through_a_package_is_refused(package):
    (package / "sub").mkdir()
    (package / "sub" / "__init__.py").write_text("value = 1\n")
    edit(
        package, "solver", "import start, table", f"import start, table\nfrom {package.name}.sub import value"
    )
    with pytest.raises(PlanError, match="goes through a package"):
        revisions(package)


def test_submodule_imported_from_its_package_is_followed(package):
    edit(
        package,
        "solver",
        "from .base import start, table",
        f"from {package.name} import base\nstart, table = base.start, base.table",
    )
    before = revisions(package)
    edit(package, "base", "start = 1", "start = 5")
    assert revisions(package)[0] != before[0]


def test_names_for_type_checkers_do_not_count(package):
    before = revisions(package)
    edit(
        package,
        "other",
        "def value",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import unrelated\n\n\ndef value",
    )
    with_block = revisions(package)
    edit(package, "unrelated", "x = 1", "x = 2")
    assert revisions(package) == with_block
    assert with_block[0] == before[0]


def test_source_changed_after_import_is_noticed(package):
    from kernsemble.experiments import revision as module

    paper = reload_paper(package.name)
    module.remember_sources()
    path = package / "trials.py"
    module._seen[path] = module._signature(path)
    edit(package, "trials", "FACTOR = 2", "FACTOR = 22")
    with pytest.raises(PlanError, match="changed after it was imported"):
        revision(paper.functions["table1"][0].function)


def test_serialized_tree_has_no_positions_and_no_empty_fields():
    text = serialize(ast.parse("def f(x: int) -> int:\n    'doc'\n    return x + 1  # c\n"))
    assert text == serialize(ast.parse("\n\ndef f(x):\n    return (x + 1)\n"))
    for absent in ("lineno", "type_params", "returns", "doc"):
        assert absent not in text


def test_constants_of_other_types_differ():
    assert serialize(ast.parse("x = 1")) != serialize(ast.parse("x = 1.0"))
    assert serialize(ast.parse("x = True")) != serialize(ast.parse("x = 1"))


def test_empty_pieces_of_formatted_strings_do_not_count():
    tree = ast.parse('f"{x:{width}}"')
    before = serialize(tree)
    tree.body[0].value.values[0].format_spec.values.insert(0, ast.Constant(""))
    assert serialize(tree) == before


ELSEWHERE = """
import json, sys
from kernsemble.experiments.revision import _revision
json.dump([_revision(module, name) for module, name in json.load(sys.stdin)], sys.stdout)
"""


def test_every_python_here_gives_the_same_revisions():
    """What ``make matrix`` needs no packages for: rows are current in all versions or in none."""
    papers = [load_paper(key) for key in available_papers()]
    functions = [f.function for paper in papers for group in paper.functions.values() for f in group]
    expected = [revision(function) for function in functions]
    names = json.dumps([(function.__module__, function.__name__) for function in functions])
    for python in find_pythons():
        found = subprocess.run(
            [python, "-c", ELSEWHERE], input=names, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True, text=True, timeout=200, check=True,
        )  # fmt: skip
        assert json.loads(found.stdout) == expected, python
