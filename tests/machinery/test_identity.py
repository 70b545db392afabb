"""The identity of a trial's code follows what its numbers come from, and no names."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.machinery import reload_paper, write_package

from kernsemble.trials import identity as module_of_identity
from kernsemble.trials.errors import PlanError
from kernsemble.trials.identity import RENAMED, forget, identity, parts, reach, refused
from kernsemble.trials.registry import available_papers, load_paper
from kernsemble.trials.rooms import STUDIES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from matrix import find_pythons  # noqa: E402

TRIALS = '''
"""Docstring."""
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial
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
import warnings

from .base import start, table


class Machine:
    def run(self, n):
        return helper(n) + len(table)


def helper(n):
    result = start + n
    return [result for _ in range(1)][0]


def down(n):
    return up(n - 1) if n else 0


def up(n):
    return down(n - 1) + 1 if n else 1


def solve(n):
    """Doc."""
    if n < 0:
        raise ValueError(f"n is {n}; it must not be negative.")
    if n > 99:
        warnings.warn("This takes long.", RuntimeWarning, stacklevel=2)
    assert n < 1000, "too many"
    return Machine().run(n) + down(2)


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


def functions_of(package):
    registered = reload_paper(package.name).functions
    return [registered[name][0].function for name in ("table1", "table2")]


def identities(package):
    return [identity(function) for function in functions_of(package)]


def edit(package, module, old, new):
    path = package / f"{module}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def changed_tables(package, *edits):
    before = identities(package)
    for module, old, new in edits:
        edit(package, module, old, new)
    after = identities(package)
    return [name for name, a, b in zip(("table1", "table2"), before, after, strict=True) if a != b]


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("trials", "# a comment", "# another, longer comment"),
        ("trials", '"""Docstring."""', '"""Other words."""'),
        ("trials", "UNUSED = 3", "UNUSED = 4"),
        ("trials", '"A tiny paper"', '"Another title"'),
        ("trials", 'methods=("first",)', 'methods=("first", "third")'),
        ("trials", "n: int", "n: float"),
        ("trials", "def first", "def renamed"),
        ("trials", "FACTOR", "OTHER"),
        ("solver", "Machine", "Engine"),
        ("solver", "helper", "assistant"),
        ("solver", "result", "outcome"),
        ("solver", "for _ in", "for unused in"),
        ("solver", "down", "below"),
        ("solver", "n is {n}; it must not be negative.", "{n} is negative"),
        ("solver", "This takes long.", "Take your time."),
        ("solver", "stacklevel=2", "stacklevel=3"),
        ("solver", "too many", "at most 999"),
        ("solver", "from .base import start, table", "from .base import table, start"),
        ("solver", "    return n\n", "    return -n\n"),
        ("solver", '"""Doc."""', '"""Longer documentation."""'),
        ("other", "def value(n):\n    return n\n", "def value(n: int) -> int:\n    return (n)\n"),
        ("unrelated", "x = 1", "x = 2"),
    ],
)
def test_words_and_names_do_not_count(package, module, old, new):
    assert changed_tables(package, (module, old, new)) == []


@pytest.mark.parametrize(
    ("module", "old", "new", "changed"),
    [
        ("trials", "FACTOR = 2", "FACTOR = 3", ["table1"]),
        ("trials", "FACTOR * value", "FACTOR + value", ["table1"]),
        ("trials", "FACTOR * value", "UNUSED * value", ["table1"]),
        ("trials", 'TABLE["a"] = 1', 'TABLE["a"] = 2', ["table2"]),
        ("trials", '{"error": scale', '{"errors": scale', ["table1"]),
        ("solver", "start + n", "start - n", ["table1"]),
        ("solver", "start + n", "n + n", ["table1"]),
        ("solver", "len(table)", "len(table) + 1", ["table1"]),
        ("solver", "def run", "def go", ["table1"]),
        ("solver", "up(n - 1) if n else 0", "down(n - 1) if n else 0", ["table1"]),
        ("solver", "else 1", "else 2", ["table1"]),
        ("solver", "down(2)", "up(2)", ["table1"]),
        ("solver", "n > 99", "n > 98", ["table1"]),
        ("solver", "ValueError", "TypeError", ["table1"]),
        ("solver", "RuntimeWarning", "UserWarning", ["table1"]),
        ("solver", "n < 1000", "n < 2000", ["table1"]),
        ("base", "2 * n", "3 * n", ["table1"]),
        ("base", '"ab"', '"abc"', ["table1"]),
        ("base", "start = 1", "start = 1.0", ["table1"]),
        ("base", "start = 1", "start = True", ["table1"]),
        ("other", "return n", "return -n", ["table2"]),
        ("lazy", "late = 1", "late = 2", ["table2"]),
    ],
)
def test_what_numbers_come_from_counts(package, module, old, new, changed):
    assert changed_tables(package, (module, old, new)) == changed


def test_a_definition_may_move_to_another_module(package):
    moved = "def helper(n):\n    result = start + n\n    return [result for _ in range(1)][0]\n"
    (package / "aside.py").write_text(f"from .unrelated import begin as start\n\n\n{moved}")
    before = identities(package)
    edit(package, "solver", moved, "from .aside import helper\n")
    edit(package, "unrelated", "x = 1", "begin = 1")
    without_import = identities(package)  # base.start was in a module that does something on import
    edit(package, "unrelated", "begin = 1", "x = 1")
    edit(package, "aside", "from .unrelated import begin as start", "from .base import start")
    assert identities(package) == before
    assert without_import != before


def test_an_attribute_renamed_everywhere_does_not_count(package, monkeypatch):
    edit(package, "other", "return n", "return n.old + getattr(n, 'old', 0)")
    before = identities(package)
    edit(package, "other", "old", "new")
    assert identities(package) != before
    forget()
    monkeypatch.setattr(module_of_identity, "RENAMED", {"new": "old"})
    assert identities(package) == before


def test_no_module_sets_an_attribute_under_its_old_and_its_new_name():
    for path in (ROOT / "src").rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        stored = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        assert not [new for new, old in RENAMED.items() if {old, new} <= stored], path


def test_other_packages_count_by_their_full_names(package):
    edit(package, "solver", "import warnings", "import warnings\n\nimport numpy as np")
    edit(package, "solver", "down(2)", "np.sum(n)")
    assert (
        changed_tables(
            package, ("solver", "np", "numpy"), ("solver", "import numpy as numpy", "import numpy")
        )
        == []
    )
    assert changed_tables(package, ("solver", "import numpy", "import math as numpy")) == ["table1"]


def test_exchanged_locals_count(package):
    edit(package, "other", "    return n\n", "    a, b = n, 2\n    return a - b\n")
    assert changed_tables(package, ("other", "a, b = n, 2", "p, q = n, 2"), ("other", "a - b", "p - q")) == []
    assert changed_tables(package, ("other", "p - q", "q - p")) == ["table2"]


def test_the_own_name_counts_where_random_numbers_come_from_it(package):
    before = identity(functions_of(package)[0], named=True)
    edit(package, "trials", "def first", "def renamed")
    assert identity(functions_of(package)[0], named=True) != before


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("getattr(other, str(n))", "getattr with a name that is computed"),
        ("helper.__name__", "[.]__name__"),
        ("len(__name__)", "__name__"),
        ("globals()", "globals"),
        ("len(vars(other))", "vars"),
    ],
)
def test_code_that_looks_at_names_is_refused(package, code, what):
    edit(package, "solver", "down(2)", f"bool({code})")
    with pytest.raises(PlanError, match=f"solver.solve: {what}"):
        identities(package)


def test_own_attributes_may_be_looked_up_by_a_computed_name(package):
    edit(package, "solver", "return helper(n)", "return getattr(self, str(n), helper(n))")
    assert identities(package)


def test_words_of_messages_may_look_at_names(package):
    edit(package, "solver", "n is {n}", "{helper.__name__}: n is {n}")
    assert identities(package)


def test_reading_the_text_of_what_is_caught_is_refused(package):
    handler = "    try:\n        return n\n    except ValueError as error:\n        "
    edit(package, "other", "    return n\n", f"{handler}raise TypeError(str(error)) from error\n")
    assert identities(package)
    edit(package, "other", "raise TypeError(str(error)) from error", "return str(error)")
    with pytest.raises(PlanError, match="the text of what is caught"):
        identities(package)


def test_import_through_a_package_is_refused(package):
    (package / "sub").mkdir()
    (package / "sub" / "__init__.py").write_text("value = 1\n")
    edit(
        package, "solver", "import start, table", f"import start, table\nfrom {package.name}.sub import value"
    )
    with pytest.raises(PlanError, match="goes through a package"):
        identities(package)


def test_submodule_imported_from_its_package_is_followed(package):
    edit(
        package,
        "solver",
        "from .base import start, table",
        f"from {package.name} import base\nstart, table = base.start, base.table",
    )
    before = identities(package)
    edit(package, "base", "start = 1", "start = 5")
    assert identities(package)[0] != before[0]


def test_names_for_type_checkers_do_not_count(package):
    block = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import unrelated\n\n\ndef value"
    assert changed_tables(package, ("other", "def value", block)) == []
    assert changed_tables(package, ("unrelated", "x = 1", "x = 2")) == []


def test_source_changed_after_import_is_noticed(package):
    function = functions_of(package)[0]
    identity(function)
    edit(package, "trials", "FACTOR = 2", "FACTOR = 22")
    with pytest.raises(PlanError, match="changed after it was imported"):
        reread(function)


def reread(function):
    """Read the sources again, without forgetting what they were when they were imported."""
    from kernsemble.trials import identity as module

    seen = dict(module._seen)
    forget()
    module._seen.update(seen)
    return identity(function)


def test_parts_tell_which_definition_changed(package):
    before = parts(functions_of(package)[0])
    edit(package, "solver", "start + n", "start - n")
    after = parts(functions_of(package)[0])
    assert [name for name in after if after[name] != before[name]] == [f"{package.name}.solver.helper"]


def test_constants_are_repeated_exactly(package):
    edit(package, "lazy", "late = 1", 'late = f"{1:{2}}"')
    before = identities(package)
    edit(package, "lazy", "{2}", "{3}")
    assert identities(package)[1] != before[1]


ELSEWHERE = """
import json, sys
from kernsemble.trials.identity import Symbol, _hash
json.dump([_hash(Symbol(module, name)) for module, name in json.load(sys.stdin)], sys.stdout)
"""


def trial_functions():
    papers = [load_paper(key) for key in available_papers()]
    return [f for paper in papers for group in paper.functions.values() for f in group]


def test_every_python_here_gives_the_same_identities():
    """What ``make matrix`` needs no packages for: rows are current in all versions or in none."""
    names = json.dumps([(f.function.__module__, f.name) for f in trial_functions()])
    found = {python: run_elsewhere(python, ELSEWHERE, ROOT / "src", names) for python in find_pythons()}
    assert len({json.dumps(hashes) for hashes in found.values()}) == 1, list(found)


def run_elsewhere(python, code, source, text=""):
    done = subprocess.run(
        [python, "-c", code], input=text, env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


ALL_IDENTITIES = """
import json, sys
from importlib import import_module
identity = import_module("kernsemble.trials.identity" + SUFFIX).identity
registry = import_module("kernsemble.trials.registry" + SUFFIX)
papers = [registry.load_paper(key) for key in registry.available_papers()]
found = {
    f"{paper.key} {exhibit} {f.name} {f.methods}": identity(f.function, named=f.together)
    for paper in papers for exhibit, functions in paper.functions.items() for f in functions
}
json.dump(found, sys.stdout)
"""


KEPT = ("__init__.py", "__main__.py", "plan.py")


def test_renaming_every_module_makes_no_row_stale(tmp_path):
    """In a copy, every module of src and of the rooms gets another name, but for packages and plans."""
    modules, dotted = [], set()
    for top in ("src", "notebooks"):
        shutil.copytree(ROOT / top, tmp_path / top, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
        found = [p for p in (tmp_path / top).rglob("*.py") if p.name not in KEPT]
        modules += found
        dotted |= {".".join(path.relative_to(tmp_path / top).with_suffix("").parts) for path in found}
    names = rf"\b({'|'.join(('kernsemble', *STUDIES))})(\.\w+)+"
    for path in tmp_path.rglob("*.py"):
        text = rename_imported_modules(path.read_text(), dotted)
        path.write_text(re.sub(names, lambda match: rename(match[0], dotted), text))
    for path in modules:
        path.rename(path.with_name(f"{path.stem}_moved.py"))
    assert len(modules) > 100
    before = run_elsewhere(sys.executable, ALL_IDENTITIES.replace("SUFFIX", "''"), ROOT / "src")
    after = run_elsewhere(sys.executable, ALL_IDENTITIES.replace("SUFFIX", "'_moved'"), tmp_path / "src")
    assert len(before) > 100
    assert after == before


def rename(name, modules):
    """Rename the part of a dotted name that is a module."""
    parts_ = name.split(".")
    for length in range(len(parts_), 1, -1):
        if ".".join(parts_[:length]) in modules:
            return ".".join([*parts_[: length - 1], f"{parts_[length - 1]}_moved", *parts_[length:]])
    return name


def rename_imported_modules(text, modules):
    """Rename the modules that a source imports from their package; the old name stays bound."""
    lines = text.splitlines()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    for node in sorted(nodes, key=lambda node: -node.lineno):
        moved = [alias for alias in node.names if f"{node.module}.{alias.name}" in modules]
        for alias in moved:
            alias.asname = alias.asname or alias.name
            alias.name += "_moved"
        if moved:
            line = " " * node.col_offset + ast.unparse(node)
            lines[node.lineno - 1 : node.end_lineno] = [line]
    return "\n".join(lines) + "\n"


def test_no_trial_reaches_code_that_looks_at_names():
    found = {line for f in trial_functions() for line in refused(f.function)}
    assert found == set()


def test_trials_reach_what_they_name():
    names = {str(symbol) for f in trial_functions() for symbol in reach(f.function)}
    assert {"kernsemble.kernels.stump_kernel", "kernsemble.kernels.perceptron_kernel"} <= names
