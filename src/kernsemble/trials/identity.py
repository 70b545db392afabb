"""The identity of a trial function: a hash, without names, of the code that its numbers come from.

It covers the function and the functions, classes and constants of the project that it uses, followed from one
to the next and from module to module. Each definition is written as its syntax tree, in which

- what cannot change a number is left out: comments, docstrings, annotations, the words of ``raise``, ``warn``
  and ``assert``, imports, and the declaration ``@paper.trials(..)``;
- the definition's own name is blank and its local variables are numbered;
- a name of the project is replaced by the hash of what it stands for, another package's by its full name.

So a renamed module, function, class or local variable, a definition that moves and a message in other words
leave the identity as it is; another constant or operator changes it. Parameters, attributes, methods and
keywords keep their names, because code may use them from anywhere; an attribute that was renamed everywhere
is listed in `RENAMED` and counts under the name it had. Definitions that use each other are told apart by
repeated hashing: each round, the hash of a definition takes in the last hashes of those it uses.

What looks at names would make this false, and is refused in what trials reach (`refused`).

Package ``__init__`` files only re-export, so a name has to be imported from the module that defines it. The
checksum of the data guards what the loader of stored datasets and the register of sources give, and what
`WORDS` give is only ever shown: of these the name alone counts.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec, resolve_name
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from kernsemble.trials.errors import PlanError
from kernsemble.trials.rooms import STUDIES

GUARDED_BY_CHECKSUM = frozenset({"kernsemble.data.store", "kernsemble.data.sources"})
WORDS = frozenset({("kernsemble.hypotheses.base", "label")})
SEEDS = ("kernsemble.trials.trial", "Trial")  # of every trial's random numbers
RENAMED = {"weights_": "coef_", "weights_path_": "coef_path_"}  # attributes, as they were before
DIGITS = 12
EVERYTHING = "*"  # all that a module defines
ON_IMPORT = ""  # what a module does on import without binding a name
_LOOKS_AT_NAMES = frozenset({"__name__", "__qualname__", "__module__", "__dict__"})
_LOOKERS = frozenset({"globals", "locals", "vars", "dir", "eval", "exec"})
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_CHANGES = frozenset({"add", "append", "extend", "insert", "pop", "remove", "setdefault", "update"})
_SILENT = frozenset({"annotation", "returns", "ctx", "kind", "type_comment", "type_params", "type_ignores"})
_OWN = frozenset({"kernsemble", *STUDIES})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_seen: dict[Path, tuple[int, int]] = {}


class Symbol(NamedTuple):
    """A top-level name of a module, `EVERYTHING` in it, or what it does `ON_IMPORT`."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name or '(on import)'}"


class Definition(NamedTuple):
    """The statements behind a symbol: pieces of text and the symbols between them, and what is refused."""

    pieces: tuple[str | Symbol, ...]
    refused: tuple[str, ...] = ()

    @property
    def uses(self) -> tuple[Symbol, ...]:
        """The symbols that the definition names, each once."""
        return tuple(dict.fromkeys(piece for piece in self.pieces if isinstance(piece, Symbol)))

    def hash(self, known: dict[Symbol, str]) -> str:
        """Hash the text, with the hash of each symbol in its place."""
        text = "\x1f".join(f"\x1e{known[p]}" if isinstance(p, Symbol) else p for p in self.pieces)
        return hashlib.sha256(text.encode()).hexdigest()


def identity(function: Callable, *, named: bool = False) -> str:
    """Return hexadecimal digits that change when what a trial function computes may change.

    Parameters
    ----------
    function : callable
        A top-level function of a module.
    named : bool, default=False
        Whether the function's own name counts, because its random numbers come from it.

    Examples
    --------
    >>> from kernsemble.trials.identity import identity
    >>> from kernsemble.trials.trial import Trial
    >>> len(identity(Trial))
    12
    """
    symbol = _symbol_of(function)
    if found := refused(function):
        raise PlanError(f"{symbol}: its code looks at names, which its identity leaves out: {found[0]}.")
    text = f"{_hash(symbol)} {_hash(Symbol(*SEEDS))} {symbol.name if named else ''}"
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def reach(*functions: Callable) -> set[Symbol]:
    """Return the symbols that functions use, directly or not, their own among them."""
    found: set[Symbol] = set()
    waiting = [_symbol_of(function) for function in functions]
    while waiting:
        symbol = waiting.pop()
        if symbol not in found:
            found.add(symbol)
            waiting += _definition(symbol).uses
    return found


def refused(function: Callable) -> list[str]:
    """Return what looks at names in the code that a function reaches, each with its place."""
    return sorted({f"{symbol}: {what}" for symbol in reach(function) for what in _definition(symbol).refused})


def parts(function: Callable) -> dict[str, str]:
    """Return the hash of each definition that a function reaches, without those that this one uses."""
    definitions = {str(symbol): _definition(symbol) for symbol in sorted(reach(function))}
    return {name: d.hash(dict.fromkeys(d.uses, ""))[:DIGITS] for name, d in definitions.items()}


def _symbol_of(function: Callable) -> Symbol:
    return Symbol(function.__module__, function.__name__)


_hashes: dict[Symbol, str] = {}


def _hash(symbol: Symbol) -> str:
    """Return the hash of a symbol with all that it uses; groups that use each other are hashed together."""
    for group in _groups(symbol):
        definitions = {member: _definition(member) for member in group}
        known = {other: _hashes.get(other, "") for d in definitions.values() for other in d.uses}
        for _ in group:
            known |= {member: d.hash(known) for member, d in definitions.items()}
        _hashes.update({member: d.hash(known) for member, d in definitions.items()})
    return _hashes[symbol]


def _groups(start: Symbol) -> Iterator[list[Symbol]]:
    """Yield the symbols without a hash that are reached, those that use each other together, used ones first.

    Tarjan's algorithm for strongly connected components, without recursion.
    """
    order: dict[Symbol, int] = {}
    lowest: dict[Symbol, int] = {}
    open_, path = [], []
    _enter(start, order, lowest, open_, path)
    while path:
        symbol, waiting = path[-1]
        other = next((other for other in waiting if other not in _hashes), None)
        if other is None:
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[symbol])
            if lowest[symbol] == order[symbol]:
                cut = open_.index(symbol)
                yield open_[cut:]
                del open_[cut:]
        elif other not in order:
            _enter(other, order, lowest, open_, path)
        elif other in open_:
            lowest[symbol] = min(lowest[symbol], order[other])


def _enter(symbol, order, lowest, open_, path) -> None:
    order[symbol] = lowest[symbol] = len(order)
    open_.append(symbol)
    path.append((symbol, iter(_definition(symbol).uses)))


@cache
def _definition(symbol: Symbol) -> Definition:
    """Return the statements that define a symbol, without names."""
    module, name = symbol
    if module in GUARDED_BY_CHECKSUM or symbol in WORDS:
        return Definition((f"named {name}",))
    names = _names(module)
    if name == EVERYTHING:
        pieces = [piece for other in sorted(names.defined) for piece in (other, Symbol(module, other))]
        return Definition(tuple(pieces))
    writer = _Writer(symbol, names)
    if name != ON_IMPORT and names.defined.get(ON_IMPORT):
        writer.pieces.append(Symbol(module, ON_IMPORT))
    for statement in names.defined.get(name, ()):
        writer.visit(statement)
    return Definition(tuple(_joined(writer.pieces)), tuple(writer.refused))


def _joined(pieces: list[str | Symbol]) -> Iterator[str | Symbol]:
    """Yield the symbols, and as one the pieces of text between two of them."""
    for are_text, group in groupby(pieces, key=lambda piece: isinstance(piece, str)):
        together = list(group)
        yield from ["\x1f".join(together)] if are_text else together


class _Names(NamedTuple):
    """What the top-level names of a module stand for: statements, symbols elsewhere, or other packages."""

    defined: dict[str, list[ast.stmt]]
    imported: dict[str, Symbol]
    foreign: dict[str, str]


@cache
def _names(module: str) -> _Names:
    tree = parse(module)
    imported: dict[str, Symbol] = {}
    foreign: dict[str, str] = {}
    for node in _walk_without_type_checking(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for bound, target in _bindings(node, module):
                (imported if isinstance(target, Symbol) else foreign)[bound] = target
    defined: dict[str, list[ast.stmt]] = {}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for statement in tree.body:
        for bound in _bound_names(statement, functions, imported):
            defined.setdefault(bound, []).append(statement)
    return _Names(defined, imported, foreign)


def _find(symbol: Symbol) -> Symbol | str:
    """Return the symbol that defines a name, or the full name of what another package defines."""
    module, name = symbol
    if name in (EVERYTHING, ON_IMPORT) or module in GUARDED_BY_CHECKSUM:
        return symbol
    names = _names(module)
    if name in names.defined:
        return symbol
    if name in names.imported:
        return _find(names.imported[name])
    if name in names.foreign:
        return names.foreign[name]
    raise PlanError(f"{module} defines no {name!r}, which is imported from it.")


def _bound_names(statement: ast.stmt, functions: dict, imported: dict[str, Symbol]) -> set[str]:
    """Names that a top-level statement defines or changes (``X = ..``, ``X[..] = ..``, ``X.add(..)``).

    A statement that binds none runs on import, and so does a decorator of the project that keeps what it
    decorates.
    """
    if isinstance(statement, ast.Import | ast.ImportFrom) or _for_type_checkers(statement):
        return set()
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        kept = any(_keeps(decorator, functions, imported) for decorator in statement.decorator_list)
        return {statement.name, ON_IMPORT} if kept else {statement.name}
    if isinstance(statement, ast.Expr):
        call = statement.value
        if isinstance(call, ast.Constant):  # a docstring
            return set()
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
    parts_ = [part for target in targets for part in getattr(target, "elts", [target])]
    return {_base_name(part) for part in parts_} or {ON_IMPORT}


def _keeps(decorator: ast.expr, functions: dict, imported: dict[str, Symbol]) -> bool:
    """Whether a decorator of the project changes something besides what it decorates."""
    name = _base_name(decorator)
    if _registers_trials(decorator) or name not in functions.keys() | imported.keys():
        return False
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Attribute):  # a method of an object of the project
        return True
    if name in functions:
        return _changes_state(functions[name])
    found = _find(imported[name])
    statements = _names(found.module).defined[found.name] if isinstance(found, Symbol) else []
    return any(_changes_state(statement) for statement in statements)


def _changes_state(function: ast.stmt) -> bool:
    """Whether a function changes an object that is not its own."""
    own = _names_bound_in(function) | _parameters(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            target = node.value
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES
        ):
            target = node.func.value
        else:
            continue
        if _base_name(target) not in own:
            return True
    return any(isinstance(node, ast.Global) for node in ast.walk(function))


def _base_name(node: ast.AST | None) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Scope(NamedTuple):
    """Names of a function, comprehension or class body, and what stands for each."""

    names: dict[str, str | Symbol]
    local: frozenset[str]
    is_class: bool = False


class _Writer(ast.NodeVisitor):
    """Writes statements as pieces of text and symbols, field by field but for what has a method."""

    def __init__(self, own: Symbol, names: _Names) -> None:
        self.own, self.names = own, names
        self.pieces: list[str | Symbol] = []
        self.refused: list[str] = []
        self.scopes: list[_Scope] = []
        self.n_locals = 0

    def generic_visit(self, node: ast.AST) -> None:
        self.pieces.append(f"({type(node).__name__}")
        for field, value in ast.iter_fields(node):
            if field not in _SILENT and value is not None and value != []:
                self._field(field, value)
        self.pieces.append(")")

    def _field(self, field: str, value: object) -> None:
        self.pieces.append(f"{field}=")
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                self.visit(item)
            else:
                known = RENAMED.get(item, item) if isinstance(item, str) else item
                self.pieces.append(f"{type(known).__name__}:{known!r}")

    # names

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _LOOKERS | _LOOKS_AT_NAMES and self._meaning(node.id) == f"built-in {node.id}":
            self.refused.append(node.id)
        self.pieces.append(self._meaning(node.id))

    def _meaning(self, name: str) -> str | Symbol:
        """Return what stands for a name: a number, a parameter, a symbol, or another package's name."""
        for depth, scope in enumerate(reversed(self.scopes)):
            if name in scope.names and not (scope.is_class and depth):
                return scope.names[name]
            if name in scope.local and not (scope.is_class and depth):
                self.n_locals += 1
                return scope.names.setdefault(name, f"local {self.n_locals}")
        return self._global(name)

    def _global(self, name: str) -> str | Symbol:
        if name == self.own.name:
            return "itself"
        if name in self.names.defined:
            return Symbol(self.own.module, name)
        if name in self.names.imported:
            return _find(self.names.imported[name])
        return self.names.foreign.get(name, f"built-in {name}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _LOOKS_AT_NAMES:
            self.refused.append(f".{node.attr}")
        base = self._meaning(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(base, Symbol) and base.name == EVERYTHING:  # a module imported as a whole
            self.pieces.append(_find(Symbol(base.module, node.attr)))
        else:
            self.generic_visit(node)

    # what does not run, or only words

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for bound, target in _bindings(node, self.own.module):
            if self.scopes:
                self.scopes[-1].names[bound] = _find(target) if isinstance(target, Symbol) else target

    visit_ImportFrom = visit_Import  # noqa: N815 - a name that ast gives, here and below

    def visit_If(self, node: ast.If) -> None:
        if _for_type_checkers(node):
            self._field("orelse", node.orelse)
        else:
            self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.pieces.append("(Raise")
        if node.exc is not None:
            self.visit(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        self.pieces.append(")")

    def visit_Assert(self, node: ast.Assert) -> None:
        self.pieces.append("(Assert")
        self.visit(node.test)
        self.pieces.append(")")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _BY_NAME and self._meaning(name) == f"built-in {name}" and _computes_name(node):
            self.refused.append(f"{name} with a name that is computed")
        if self._is_warn(node.func):
            kinds = [keyword.value for keyword in node.keywords if keyword.arg == "category"]
            self._field("warn", kinds or node.args[1:2])
        else:
            self.generic_visit(node)

    def _is_warn(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return (self._meaning(function.value.id), function.attr) == ("warnings", "warn")
        return isinstance(function, ast.Name) and self._meaning(function.id) == "warnings.warn"

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        annotation = ast.unparse(node.annotation)
        self.pieces += [kind for kind in ("ClassVar", "InitVar", "KW_ONLY") if kind in annotation]
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # Python 3.12.1 has empty pieces in nested formats
        self._field("values", [piece for piece in node.values if getattr(piece, "value", None) != ""])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        start = len(self.pieces)
        self.pieces.append("(ExceptHandler")
        self._field("type", node.type or [])
        caught = self._meaning(node.name) if node.name else None
        body = len(self.pieces)
        self._field("body", node.body)
        if caught is not None and caught in self.pieces[body:]:
            self.refused.append(f"the text of what is caught ({ast.unparse(node).splitlines()[0]})")
        self.pieces[start] += ")"

    # definitions and scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.pieces += [f"({type(node).__name__}", self._own_name(node.name)]
        self._field("decorators", [d for d in node.decorator_list if not _registers_trials(d)])
        self._function(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.pieces.append("(Lambda")
        self._function(node, [node.body])

    def _function(self, node: ast.FunctionDef | ast.Lambda, body: list[ast.AST]) -> None:
        self.visit(node.args)  # defaults belong to the scope around
        parameters = {name: f"parameter {name}" for name in sorted(_parameters(node))}
        self.scopes.append(_Scope(parameters, frozenset(_names_bound_in(node))))
        self._field("body", body)
        self.scopes.pop()
        self.pieces.append(")")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.pieces += ["(ClassDef", self._own_name(node.name)]
        for field in ("decorator_list", "bases", "keywords"):
            self._field(field, getattr(node, field))
        attributes = {name: f"attribute {name}" for name in sorted(_names_bound_in(node))}
        self.scopes.append(_Scope(attributes, frozenset(), is_class=True))
        self._field("body", node.body)
        self.scopes.pop()
        self.pieces.append(")")

    def _own_name(self, name: str) -> str | Symbol:
        return self._meaning(name) if self.scopes else "itself" if name == self.own.name else f"named {name}"

    def _comprehension(self, node: ast.ListComp) -> None:
        self.pieces.append(f"({type(node).__name__}")
        self.visit(node.generators[0].iter)  # evaluated in the scope around
        bound = {
            name.id
            for part in node.generators
            for name in ast.walk(part.target)
            if isinstance(name, ast.Name)
        }
        self.scopes.append(_Scope({}, frozenset(bound)))
        for place, part in enumerate(node.generators):
            self._field("target", part.target)
            self._field("iter", part.iter if place else [])
            self._field("ifs", part.ifs)
        for field in ("elt", "key", "value"):
            self._field(field, getattr(node, field, []))
        self.scopes.pop()
        self.pieces.append(")")

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815


def _computes_name(node: ast.Call) -> bool:
    """Whether an attribute is looked up by a name that is no literal; those of ``self`` keep their names."""
    own = isinstance(node.args[0], ast.Name) and node.args[0].id == "self"
    return not own and not isinstance(node.args[1], ast.Constant)


def _parameters(node: ast.AST) -> set[str]:
    own = node.args
    every = [*own.posonlyargs, *own.args, *own.kwonlyargs, own.vararg, own.kwarg]
    return {argument.arg for argument in every if argument is not None}


def _names_bound_in(node: ast.AST) -> set[str]:
    """Names that the body of a function or class binds itself, imports apart."""
    bound: set[str] = set()
    elsewhere: set[str] = set()
    waiting = list(node.body) if isinstance(node.body, list) else [node.body]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.Name):
            if not isinstance(inner.ctx, ast.Load):
                bound.add(inner.id)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(inner.name)
        elif isinstance(inner, _COMPREHENSIONS):
            bound |= {n.target.id for n in ast.walk(inner) if isinstance(n, ast.NamedExpr)}
        elif isinstance(inner, ast.Global | ast.Nonlocal):
            elsewhere |= set(inner.names)
        elif not isinstance(inner, ast.Lambda | ast.Constant | ast.expr_context):
            if isinstance(inner, ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping):
                bound.add(inner.rest if isinstance(inner, ast.MatchMapping) else inner.name)
            waiting += ast.iter_child_nodes(inner)
    return bound - elsewhere - {None}


def _bindings(node: ast.Import | ast.ImportFrom, module: str) -> Iterator[tuple[str, Symbol | str]]:
    """Yield (name bound, what it stands for) of an import."""
    source = _absolute(node, module) if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        if isinstance(node, ast.Import):
            bound, name = alias.asname or alias.name.split(".")[0], alias.name
            own = _is_own(name, module)
            full = name if alias.asname else bound
            yield bound, Symbol(_module_of(name, None, module), EVERYTHING) if own else full
        elif not _is_own(source, module):
            yield alias.asname or alias.name, f"{source}.{alias.name}"
        else:
            found = _module_of(source, alias.name, module)
            name = alias.name if found == source else EVERYTHING
            yield alias.asname or alias.name, Symbol(found, name)


def _walk_without_type_checking(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes that run at the top level of a module, those of functions apart."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if _for_type_checkers(node):
            waiting += node.orelse
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node
            waiting += ast.iter_child_nodes(node)


def _for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _is_own(name: str, module: str) -> bool:
    top = name.split(".")[0]
    return top in _OWN or (top == module.split(".")[0] and "." in module)


def _absolute(node: ast.ImportFrom, module: str) -> str:
    source = node.module or ""
    return resolve_name("." * node.level + source, module.rpartition(".")[0]) if node.level else source


def _module_of(source: str, name: str | None, importer: str) -> str:
    """Return the module that an import reaches; a package is refused, because it only re-exports."""
    if name is not None and source_file(f"{source}.{name}") is not None:
        return f"{source}.{name}"
    file = source_file(source)
    if file is None or file.name == "__init__.py":
        what = f"import {source}" if name is None else f"from {source} import {name}"
        raise PlanError(
            f"{importer}: '{what}' goes through a package; import from the module that defines it, "
            "so that the identity of the evidence's code can follow."
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
    """Note the state of the project's imported source files, so that a later change is noticed."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.split(".")[0] in _OWN and file and Path(file).is_file():
            _seen.setdefault(Path(file), _signature(Path(file)))


def forget() -> None:
    """Forget all that was read of sources, as a new process would."""
    for cached in (_definition, _names, source_file, parse):
        cached.cache_clear()
    _hashes.clear()
    _seen.clear()


def _signature(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _registers_trials(node: ast.AST) -> bool:
    """Whether it is ``@paper.trials(..)``: which methods are served is in the key of each row."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "trials" and getattr(node.func.value, "id", "") == "paper"
