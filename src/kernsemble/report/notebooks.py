"""Run a notebook and keep what it shows, so that running it again gives the same bytes.

papermill executes; then everything that differs between runs is taken out: times, standard error, widgets,
random cell ids, the order in which streams were cut. A notebook that prints an address in memory is
refused.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat

from kernsemble.trials.arithmetic import pinned_environment
from kernsemble.trials.errors import FailedError, PlanError
from kernsemble.trials.evidence import write_atomically

PARAMETERS = "parameters"
INJECTED = "injected-parameters"
START_SECONDS = 180  # a busy machine, or a slow disk
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,}")


class NotebookError(FailedError):
    """A notebook that cannot be run, or that failed."""


def render_notebook(
    source: Path, target: Path, parameters: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> None:
    """Execute a notebook and write it, normalized, in one step.

    Parameters are values for names that the cell tagged "parameters" assigns; others are refused.
    """
    check_parameters(read_notebook(source), parameters, source)
    executed = _execute(source, parameters, environment or {})
    notebook = normalize(executed, parameters)
    if found := _addresses(notebook):
        raise NotebookError(f"{source}: cell {found[0]} prints an address in memory: assign its value to _.")
    write_atomically(target, write_notebook(notebook))


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Read a notebook; raise ``NotebookError`` when it is not one."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise NotebookError(f"There is no notebook {path}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise NotebookError(f"{path} is not a notebook: {error}") from None


def write_notebook(notebook: nbformat.NotebookNode) -> bytes:
    """Return the bytes of a notebook."""
    return (
        nbformat.writes(notebook, indent=1, sort_keys=True, ensure_ascii=False).rstrip("\n") + "\n"
    ).encode()


def check_parameters(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any], where: Path) -> None:
    """Refuse a notebook without its parameters cell, and parameters that the cell does not assign."""
    cells = [cell for cell in notebook.cells if PARAMETERS in cell.metadata.get("tags", [])]
    if len(cells) != 1 or cells[0].cell_type != "code":
        raise NotebookError(f"{where}: needs exactly one code cell tagged 'parameters', found {len(cells)}.")
    names = [name for name, _ in _assignments(cells[0].source)]
    for name in parameters:
        if name not in names:
            raise PlanError(
                f"{where}: no parameter {name!r}; its parameters are {', '.join(names) or 'none'}."
            )


def _assignments(source: str) -> Iterator[tuple[str, ast.expr]]:
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield statement.targets[0].id, statement.value


def with_parameters(source: str, parameters: Mapping[str, Any]) -> str:
    """Return the parameters cell with the values that were used."""
    lines = source.split("\n")
    for name, value in reversed(list(_assignments(source))):
        if name in parameters:
            first, last = value.lineno - 1, value.end_lineno - 1
            start, end = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
            lines[first : last + 1] = [f"{start}{json.dumps(parameters[name])}{end}"]
    return "\n".join(lines)


def _execute(
    source: Path, parameters: Mapping[str, Any], environment: Mapping[str, str]
) -> nbformat.NotebookNode:
    import papermill
    from nbclient.exceptions import DeadKernelError

    fixed = {"PYTHONHASHSEED": "0", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "KERNSEMBLE_SCALE": ""}
    # a folder of its own for IPython: a home may be missing, or hold somebody's start-up files
    with _temporary_folder() as folder, pinned_environment(**fixed, IPYTHONDIR=str(folder), **environment):
        output = folder / "output.ipynb"
        try:
            papermill.execute_notebook(
                source,
                output,
                parameters=dict(parameters),
                kernel_name="python3",
                language="python",
                record_timing=False,
                progress_bar=False,
                start_timeout=START_SECONDS,
                cwd=str(source.parent),
                extra_arguments=["--log-level=40"],  # errors only: the kernel listens on the loopback device
            )
        except papermill.PapermillExecutionError as error:
            trace = "\n".join(re.sub(r"\x1b\[[0-9;]*m", "", line) for line in error.traceback)
            raise NotebookError(f"{source}: a cell failed.\n{trace}") from None
        except (DeadKernelError, RuntimeError) as error:
            # jupyter_client has no classes for a kernel that dies while it starts, or that never answers
            if "didn't respond" in str(error):
                raise NotebookError(
                    f"{source}: its kernel did not answer in {START_SECONDS} seconds. See that the "
                    "loopback device is up (ip link set lo up), and run the command again."
                ) from None
            if not isinstance(error, DeadKernelError) and "Kernel died" not in str(error):
                raise
            raise NotebookError(f"{source}: its kernel died; run the same command again.") from None
        return nbformat.read(output, as_version=4)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Make a folder that is gone afterwards; say where it is when nothing can be written there."""
    where = os.environ.get("TMPDIR") or "/tmp"
    try:
        with tempfile.TemporaryDirectory() as folder:
            where = folder
            yield Path(folder)
    except OSError as error:
        remedy = "Fix this" if error.filename else "Fix this, or set TMPDIR to another folder,"
        raise NotebookError(
            f"{error.filename or where}: {error.strerror or error}. {remedy} and run the command again."
        ) from None


def normalize(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Return a notebook without anything that differs between runs."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    kept = [cell for cell in notebook.cells if INJECTED not in cell.metadata.get("tags", [])]
    cells, count = [], 0
    for position, cell in enumerate(kept):
        tags = list(cell.metadata.get("tags", []))
        text = with_parameters(cell.source, parameters) if PARAMETERS in tags else cell.source
        made = nbformat.from_dict(
            {"cell_type": cell.cell_type, "source": text, "metadata": _kept_metadata(cell)}
        )
        made["id"] = hashlib.sha256(f"{position}\n{text}".encode()).hexdigest()[:8]
        if cell.cell_type == "code":
            count += bool(text.strip())
            made["execution_count"] = count if text.strip() else None
            made["outputs"] = _outputs(cell.outputs, count)
        cells.append(made)
    return nbformat.from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _kept_metadata(cell: nbformat.NotebookNode) -> dict[str, Any]:
    """Keep what an author wrote: tags, and what the site reads."""
    return {name: cell.metadata[name] for name in ("tags", "mystnb") if cell.metadata.get(name)}


def _outputs(outputs: list[nbformat.NotebookNode], count: int) -> list[nbformat.NotebookNode]:
    kept: list[nbformat.NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            if output.name == "stderr":
                continue
            if kept and kept[-1].output_type == "stream":
                kept[-1].text += output.text
                continue
            kept.append(nbformat.v4.new_output("stream", name="stdout", text=output.text))
            continue
        if any("widget" in kind for kind in output.get("data", {})):
            continue
        made = nbformat.from_dict({**output, "metadata": {}})
        if output.output_type == "execute_result":
            made["execution_count"] = count
        kept.append(made)
    return kept


def _addresses(notebook: nbformat.NotebookNode) -> list[int]:
    texts = {
        number: [output.get("text", ""), *map(str, output.get("data", {}).values())]
        for number, cell in enumerate(notebook.cells, start=1)
        for output in cell.get("outputs", [])
    }
    return [number for number, parts in texts.items() if any(_ADDRESS.search(part) for part in parts)]
