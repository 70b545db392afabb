"""Plain YAML, and nothing that surprises: no objects, no key twice, no depth or size out of hand.

``published/claims.yaml``, ``params.yaml`` and ``sources.yaml`` are read here. An alias may stand for a value
written elsewhere, but not for itself, and not until a few lines stand for millions of values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

try:
    import yaml
except ModuleNotFoundError as error:  # no estimator needs it
    raise ModuleNotFoundError(
        "kernsemble.load and the register of datasets need PyYAML: pip install 'kernsemble[data]'.",
        name="yaml",
    ) from error

MAX_DEPTH = 50
MAX_VALUES = 100_000  # an alias counts as much as what it stands for
_Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """Return what a YAML text says; ValueError tells what is wrong, and where.

    Examples
    --------
    >>> from kernsemble.data.strict_yaml import read_yaml
    >>> read_yaml("{a: 1, b: [x, y]}")
    {'a': 1, 'b': ['x', 'y']}
    """
    try:
        _check_depth(text)
        loader = _Base(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _count_values(node, {})
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        # the library's own constructors on a tag that does not fit its value
        raise ValueError(f"a value does not fit its tag ({error})") from None


def read_yaml_file(path: Path) -> Any:
    """Return what a YAML file says; ValueError names it."""
    try:
        return read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} is not valid YAML: {error}.") from None


def _check_depth(text: str) -> None:
    """Refuse deep nesting before anything recurses into it."""
    depth = 0
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"nested too deeply, more than {MAX_DEPTH} levels{_place(event)}")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _count_values(node: yaml.Node, counts: dict[yaml.Node, int | None]) -> int:
    """Return how many values a node stands for; refuse cycles, crowds and keys that stand twice."""
    if node in counts:
        if counts[node] is None:
            raise ValueError(f"a value contains itself{_place(node)}")
        return counts[node]
    counts[node] = None
    children: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        _refuse_repeated_keys(node)
        children = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    counts[node] = 1 + sum(_count_values(child, counts) for child in children)
    if counts[node] > MAX_VALUES:
        raise ValueError(f"stands for more than {MAX_VALUES} values{_place(node)}")
    return counts[node]


def _refuse_repeated_keys(node: yaml.MappingNode) -> None:
    seen = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                raise ValueError(f"key {key.value!r} twice{_place(key)}")
            seen.add(key.value)


def _place(where: yaml.Event | yaml.Node) -> str:
    mark = where.start_mark
    return "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
