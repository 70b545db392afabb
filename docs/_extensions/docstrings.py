"""Docstrings as reStructuredText: bars around a norm are no substitution, names of sizes are no links."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes

LITERAL = re.compile(r"(``.*?``|`.*?`)")


def escape_bars(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape bars outside literals; for the event ``autodoc-process-docstring``."""
    block: int | None = None  # indentation of the line that announced a literal block
    for position, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if block is not None and line.strip() and indent <= block:
            block = None
        if block is None and not line.lstrip().startswith(">>>"):
            lines[position] = "".join(
                part if i % 2 else part.replace("|", r"\|") for i, part in enumerate(LITERAL.split(line))
            )
        if block is None and line.rstrip().endswith("::"):
            block = indent


def unlink_names(app, doctree: nodes.document) -> None:
    """Take links off names in types, such as `n_samples`: they mean a number, not an attribute."""
    for reference in list(doctree.findall(addnodes.pending_xref)):
        target = reference.get("reftarget", "")
        if (
            reference.get("refdomain") == "py"
            and target.islower()
            and "." not in target
            and _in_field(reference)
        ):
            reference.replace_self(reference.children)


def _in_field(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.field):
            return True
    return False
