"""The revision of a trial function: a hash of the code that its numbers come from.

It covers the function and the functions, classes and constants of the package that it names, followed from
one to the next and from module to module; of a module that is imported as a whole, everything; of every
module on the way, also what it does on import. Comments, docstrings and annotations do not count.
Package ``__init__`` files only re-export and are left out, so a name has to be imported from the module that
defines it. The loader of stored datasets and the register of sources are left out too: the checksum of the
data guards what comes from them.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from kernsemble.experiments.errors import PlanError

# Seeds come from here, for every trial.
ALWAYS = "kernsemble.experiments.trial"
GUARDED_BY_CHECKSUM = frozenset({"kernsemble.data.store", "kernsemble.data.sources"})
EVERYTHING = "*"  # all that a module defines
ON_IMPORT = ""  # what a module does on import without binding a name
_seen: dict[Path, tuple[int, int]] = {}


class Symbol(NamedTuple):
    """A top-level name of a module, or `EVERYTHING` in it."""

    module: str
    name: str


def revision(function: Callable) -> str:
    """Return ten hexadecimal digits that change when the code behind a trial function does.

    Examples
    --------
    >>> from kernsemble.experiments.revision import revision
    >>> from kernsemble.experiments.trial import Trial
    >>> len(revision(Trial))
    10
    """
    return _revision(function.__module__, function.__name__)


@cache
def _revision(module: str, name: str) -> str:
    digest = hashlib.sha256()
    for symbol in sorted(reach([Symbol(module, name), Symbol(ALWAYS, EVERYTHING)])):
        for text in _source(symbol)[0]:
            digest.update(f"\n{symbol.module} {text}".encode())
    return digest.hexdigest()[:10]


def reach(symbols: Iterable[Symbol], guarded: frozenset[str] = GUARDED_BY_CHECKSUM) -> set[Symbol]:
    """Return the symbols and all that they use, transitively, but for what the guarded modules define."""
    found: set[Symbol] = set()
    waiting = list(symbols)
    while waiting:
        symbol = waiting.pop()
        if symbol not in found and symbol.module not in guarded:
            found.add(symbol)
            waiting += _source(symbol)[1]
    return found


@cache
def _source(symbol: Symbol) -> tuple[list[str], list[Symbol]]:
    """Return the statements (serialized) that define a symbol, and the symbols that these use."""
    module, name = symbol
    defined, imported = _names(module)
    if name == EVERYTHING:
        return [], [Symbol(module, other) for other in defined]
    # What a module does on import, without binding a name, happens to whoever uses a part of it.
    used = {Symbol(module, ON_IMPORT), *imported.get(name, ())}
    for statement in defined.get(name, ()):
        used |= {target for _, target in _bindings(statement, module)}
        called = {node.id for node in _walk_what_runs(statement) if isinstance(node, ast.Name)}
        used |= {Symbol(module, other) for other in called if other in defined or other in imported}
    return [serialize(statement) for statement in defined.get(name, ())], sorted(used)


@cache
def _names(module: str) -> tuple[dict[str, list[ast.stmt]], dict[str, set[Symbol]]]:
    """Return the top-level statements of a module by the names they bind, and what its imports bind."""
    tree = parse(module)
    imported: dict[str, set[Symbol]] = {}
    for bound, target in _bindings(tree, module):
        imported.setdefault(bound, set()).add(target)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    defined: dict[str, list[ast.stmt]] = {}
    for statement in _without_docstring(tree.body):
        for bound in _bound_names(statement, functions | imported.keys()):
            defined.setdefault(bound, []).append(statement)
    return defined, imported


def closure(modules: Iterable[str], guarded: frozenset[str] = GUARDED_BY_CHECKSUM) -> set[str]:
    """Return the modules and all modules of the package that they import, transitively, but the guarded."""
    found: set[str] = set()
    waiting = set(modules)
    while waiting:
        module = waiting.pop()
        if module in found or module in guarded:
            continue
        found.add(module)
        waiting |= imports_of(module)
    return found


@cache
def imports_of(module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports, inside functions too."""
    return frozenset(target.module for _, target in _bindings(parse(module), module))


def _bound_names(statement: ast.stmt, own: Container[str]) -> set[str]:
    """Names that a top-level statement defines or changes (``X = ..``, ``X[..] = ..``, ``X.add(..)``).

    A statement that binds none runs on import, and so does a decorator of the project's ``own``.
    """
    if isinstance(statement, ast.Import | ast.ImportFrom) or _for_type_checkers(statement):
        return set()
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        registered = any(
            _base_name(decorator) in own and not _registers_trials(decorator)
            for decorator in statement.decorator_list
        )
        return {statement.name, ON_IMPORT} if registered else {statement.name}
    if isinstance(statement, ast.Expr):
        call = statement.value
        base = call.func if isinstance(call, ast.Call) else None
        return {_base_name(base) if isinstance(base, ast.Attribute) else ON_IMPORT}
    targets: list[ast.expr] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            targets.append(node.target)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            targets.append(ast.Name(node.name))
    parts = [part for target in targets for part in getattr(target, "elts", [target])]
    return {_base_name(part) for part in parts} or {ON_IMPORT}


def _base_name(node: ast.AST | None) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bindings(tree: ast.AST, module: str) -> Iterator[tuple[str, Symbol]]:
    """Yield (name bound, what it stands for) for each import of the project's own code."""
    for node in _walk_without_type_checking(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_own(alias.name, module):
                    bound = alias.asname or alias.name.split(".")[0]
                    yield bound, Symbol(_module_of(alias.name, None, module), EVERYTHING)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, module)
            if _is_own(source, module):
                for alias in node.names:
                    reached = _module_of(source, alias.name, module)
                    yield (
                        alias.asname or alias.name,
                        Symbol(reached, alias.name if reached == source else EVERYTHING),
                    )


def _walk_without_type_checking(tree: ast.AST) -> Iterator[ast.AST]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _for_type_checkers(node):
            waiting += node.orelse
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


def _for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _walk_what_runs(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree without annotations of functions and without ``@paper.trials(..)``."""
    yield tree
    for field, child in ((f, c) for f, value in ast.iter_fields(tree) for c in _as_list(value)):
        silent = field in ("returns", "annotation") and isinstance(tree, ast.arg | ast.FunctionDef)
        if isinstance(child, ast.AST) and not silent and not _registers_trials(child):
            yield from _walk_what_runs(child)


def _as_list(value: object) -> list:
    return value if isinstance(value, list) else [value]


def _is_own(name: str, module: str) -> bool:
    top = name.split(".")[0]
    return top == "kernsemble" or (top == module.split(".")[0] and "." in module)


def _absolute(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    package = module.split(".")[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def _module_of(source: str, name: str | None, importer: str) -> str:
    """Return the module that an import reaches; a package is refused, because it only re-exports."""
    if name is not None and source_file(f"{source}.{name}") is not None:
        return f"{source}.{name}"
    file = source_file(source)
    if file is None or file.name == "__init__.py":
        what = f"import {source}" if name is None else f"from {source} import {name}"
        raise PlanError(
            f"{importer}: '{what}' goes through a package; import from the module that defines it, "
            "so that the revision of the evidence can follow."
        )
    return source


@cache
def source_file(module: str) -> Path | None:
    """Return the file of a module, or None when there is no such module."""
    top, *rest = module.split(".")
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        return None
    base = Path(spec.origin)
    if not rest:
        return base
    path = base.parent.joinpath(*rest)
    for candidate in (path.with_name(path.name + ".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def parse(module: str) -> ast.Module:
    """Return the syntax tree of a module whose file is still the one that was imported."""
    path = source_file(module)
    if path is None:
        raise PlanError(f"There is no module {module!r}.")
    if _seen.setdefault(path, _signature(path)) != _signature(path):
        raise PlanError(f"{path} was changed after it was imported: start again (restart the kernel).")
    return ast.parse(path.read_text(encoding="utf-8"))


def remember_sources() -> None:
    """Note the state of the package's imported source files, so that a later change is noticed."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.startswith("kernsemble.") and file and Path(file).is_file():
            _seen.setdefault(Path(file), _signature(Path(file)))


def _signature(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def serialize(node: ast.AST) -> str:
    """Write a syntax tree as text that is the same in every Python version; what does not run is left out."""
    parts = [type(node).__name__]
    for field, value in ast.iter_fields(node):
        if field in _SILENT or value is None or value == []:
            continue
        if field in ("returns", "annotation") and isinstance(node, ast.arg | ast.FunctionDef):
            continue
        if field == "body" and isinstance(value, list):
            value = _without_docstring(value)
        if isinstance(node, ast.JoinedStr):  # Python 3.12.1 has empty pieces in nested formats
            value = [piece for piece in value if getattr(piece, "value", None) != ""]
        if field == "decorator_list":
            value = [decorator for decorator in value if not _registers_trials(decorator)]
        parts.append(f"{field}={_serialize_value(value)}")
    return f"({' '.join(parts)})"


_SILENT = frozenset({"ctx", "kind", "type_comment", "type_params", "type_ignores"})


def _serialize_value(value: object) -> str:
    if isinstance(value, list):
        return f"[{' '.join(_serialize_value(item) for item in value)}]"
    return serialize(value) if isinstance(value, ast.AST) else f"{type(value).__name__}:{value!r}"


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return [
        statement
        for statement in body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]


def _registers_trials(node: ast.AST) -> bool:
    """Whether it is ``@paper.trials(..)``: which methods are served is in the key of each row."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "trials" and getattr(node.func.value, "id", "") == "paper"
