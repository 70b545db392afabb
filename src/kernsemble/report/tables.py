"""Tables: the printed numbers beside ours, summaries, claims and choices; as HTML, text, CSV and LaTeX.

Bold: not distinguishable from the best of its row (or column) by paired t-tests over runs at the 5 % level,
with Holm's correction over the others. Marks: those of ``Verdict``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from itertools import product
from typing import Literal

import numpy as np

from kernsemble.data.schema import aligned, csv_text
from kernsemble.report.comparisons import best_methods, mean_and_spread
from kernsemble.report.ledger import LedgerRow, Reading, Rule, judge_cell, judge_claim, load_reading, own_row
from kernsemble.report.published import PrintedCell, own_cells, own_claims
from kernsemble.report.verdicts import Verdict
from kernsemble.report.words import span
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import IncompleteEvidenceError, Sample, write_atomically
from kernsemble.trials.study import Study

BOLD_RULE = "Bold: not distinguishable from the best (paired t-tests, 5 %, Holm)."

LONG = ["row", "column", "printed", "printed_spread", "ours", "ours_spread", "runs", "z", "verdict"]
LONG += ["best", "best_spread", "best_z", "best_verdict"]  # columns of a saved table, a line a cell


@dataclass(frozen=True)
class Cell:
    """One cell of a table: our number, what is printed below it, a mark, and whether it is bold."""

    text: str
    below: str = ""
    mark: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """A table that knows how to show itself; the first cell of each row names it."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        body = "\n".join(f"<tr>{''.join(_html_cell(cell) for cell in row)}</tr>" for row in self.rows)
        caption = f"<caption>{escape(self.caption)}</caption>\n" if self.caption else ""
        return f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def __repr__(self) -> str:
        grid = [list(self.header), *([_plain_cell(cell) for cell in row] for row in self.rows)]
        return "\n".join([*aligned(grid), *filter(None, [self.caption])])

    def to_latex(self) -> str:
        """Return a ``tabular`` with booktabs rules."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.header)
        sides = "".join("r" if all(map(_is_numeric, column)) else "l" for column in columns)
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
        lines += [" & ".join(map(_latex, self.header)) + r" \\", r"\midrule"]
        lines += [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        comment = f"% {self.caption}\n" if self.caption else ""
        return comment + "\n".join(lines) + "\n"


def _is_numeric(cell: Cell) -> bool:
    return not cell.text or cell.text[0].isdigit() or cell.text[0] == "-"


def _html_cell(cell: Cell) -> str:
    text = f"<b>{escape(cell.text)}</b>" if cell.bold else escape(cell.text)
    mark = f" {escape(cell.mark)}" if cell.mark else ""
    below = f"<br><small>{escape(cell.below)}</small>" if cell.below else ""
    return f"<td>{text}{mark}{below}</td>"


def _plain_cell(cell: Cell) -> str:
    parts = (f"*{cell.text}*" if cell.bold else cell.text, cell.mark, f"({cell.below})" if cell.below else "")
    return " ".join(part for part in parts if part)


def _latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{_latex(cell.text)}}}" if cell.bold else _latex(cell.text)
    return text + (rf" {{\scriptsize ({_latex(cell.below)})}}" if cell.below else "")


def _latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    symbols = {"±": r"$\pm$", "…": r"\ldots{}", "✓": r"$\checkmark$", "✗": r"$\times$"}
    table = special | symbols | {character: "\\" + character for character in "&%$#_{}"}
    return "".join(table.get(character, character) for character in text)


def show_printed(
    study: Study,
    exhibit: str,
    *,
    rows: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    bold: Literal["row", "column"] | None = None,
    save: str | None = None,
) -> Table:
    """Return a printed table beside ours, and save it as CSV and LaTeX, by the name of the exhibit.

    Each cell holds our number with its mark, and below it what the paper prints. A method of the same trials
    that the paper does not have gets a column (or rows) of its own, with our numbers alone. Rows and columns
    are all, in the printed order, or those that are named; ``bold`` says where the methods to compare stand.
    """
    cells = own_cells(study)
    printed = {(cell.row, cell.column): cell for cell in cells if cell.exhibit == exhibit}
    if not printed:
        raise PlanError(f"published.csv has no numbers of {study.key} {exhibit!r}.")
    names = tuple(dict.fromkeys(row for row, _ in printed)) if rows is None else tuple(rows)
    columns = tuple(dict.fromkeys(column for _, column in printed)) if columns is None else tuple(columns)
    reading = load_reading(study.module)
    shown = {place: printed[place] for place in product(names, columns) if place in printed}
    added = _not_printed(study, reading, cells, shown.values())
    judged = {place: judge_cell(cell, reading, study) for place, cell in shown.items()}
    judged |= {place: own_row(cell, reading.rule(cell), study) for place, cell in added.items()}
    leading = _best_places(study, reading, shown | added, bold)
    grid = {
        place: _cell(row, (shown | added)[place].decimals, place in leading) for place, row in judged.items()
    }
    names = tuple(dict.fromkeys((*names, *(row for row, _ in added))))
    columns = tuple(dict.fromkeys((*columns, *(column for _, column in added))))
    body = tuple((Cell(name), *(grid.get((name, c), Cell("")) for c in columns)) for name in names)
    header = (exhibit.replace("table", "table "), *columns)
    table = Table(header, body, _caption(study, judged.values(), bold, bool(added)))
    texts = [row.texts for row in judged.values()]
    save_table(study, table, save or exhibit, [LONG, *([text[name] for name in LONG] for text in texts)])
    return table


def _cell(judged: LedgerRow, decimals: int, is_best: bool) -> Cell:
    below = judged.printed + (f" ± {judged.printed_spread}" if judged.printed_spread else "")
    ours, best = (
        "" if value is None else mean_and_spread(value, spread or 0.0, decimals)
        for value, spread in ((judged.ours, judged.ours_spread), (judged.best, judged.best_spread))
    )
    below += f"; best reading {best} {judged.best_verdict.mark}" if judged.best_verdict else ""
    return Cell(ours, below, judged.verdict.mark if judged.verdict else "", is_best)


def _not_printed(
    study: Study, reading: Reading | None, cells: Iterable[PrintedCell], shown: Iterable[PrintedCell]
) -> dict[tuple[str, str], PrintedCell]:
    """Return cells for the methods of the evidence that the paper prints nowhere, beside those shown.

    Where the rule of a shown cell reads the method off its row or column, another method's name there makes
    another cell. It keeps the digits of the number that it stands beside.
    """
    places = {cell: _place(study, reading, cell) for cell in (*cells, *shown)}
    known = {(place[0], place[3]) for place in places.values() if place}
    added = {}
    for cell in shown:
        if not (place := places[cell]):
            continue
        evidence, metric, dataset, method = place
        for other in [name for name in study.plan(evidence).methods if (evidence, name) not in known]:
            row, column = (text.replace(method, other) for text in (cell.row, cell.column))
            new = replace(cell, row=row, column=column, spread="")
            same_rule = reading.rule(new) is reading.rule(cell)
            if same_rule and _place(study, reading, new) == (evidence, metric, dataset, other):
                added[row, column] = new
    return added


def _place(study: Study, reading: Reading | None, cell: PrintedCell) -> tuple[str, str, str, str] | None:
    """Return evidence, metric, dataset and method beside a cell; None where it is no method's own."""
    rule = reading.rule(cell) if reading else None
    if rule is None or rule.unavailable:
        return None
    place = rule.place(cell.exhibit, cell.row, cell.column)
    return place if place[0] in study.exhibits and place[3] in study.plan(place[0]).methods else None


def _best_places(
    study: Study, reading: Reading | None, printed: dict[tuple[str, str], PrintedCell], bold: str | None
) -> set[tuple[str, str]]:
    """Return the places that are not distinguishable from the best of their row or column."""
    groups: dict[str, dict[tuple[str, str], np.ndarray]] = {}
    for place, cell in printed.items() if bold and reading else ():
        rule = reading.rule(cell)
        values = _values(rule, study, cell) if rule and not (rule.unit or rule.other_task) else None
        if values is not None:
            groups.setdefault(place[0 if bold == "row" else 1], {})[place] = values
    best: set[tuple[str, str]] = set()
    for group in groups.values():
        runs = min(len(values) for values in group.values())
        if len(group) > 1 and runs > 1:
            paired = np.column_stack([values[:runs] for values in group.values()])
            chosen = best_methods(paired)
            best |= {place for place, is_best in zip(group, chosen, strict=True) if is_best}
    return best


def _values(rule: Rule, study: Study, cell: PrintedCell) -> np.ndarray | None:
    try:
        sample = rule.find(study, cell)
    except IncompleteEvidenceError:
        return None
    return sample.values if isinstance(sample, Sample) and sample.complete else None


def _caption(study: Study, judged: Iterable[LedgerRow], bold: str | None, added: bool) -> str:
    judged = list(judged)
    there = {verdict for row in judged for verdict in (row.verdict, row.best_verdict) if row.printed}
    key = ", ".join(f"{verdict.mark} {verdict}" for verdict in Verdict if verdict in there)
    parts = [f"{scale_note(study)}Ours; below it, what the paper prints. {key}."]
    readings = dict.fromkeys(row.best_reading for row in judged if row.best_reading)
    parts += (
        [f"Best reading, chosen after the numbers had been seen: {'; '.join(readings)}."] if readings else []
    )
    parts += ["Without a second line: a method that the paper does not have."] if added else []
    return " ".join([*parts, *([BOLD_RULE] if bold else [])])


def scale_note(study: Study) -> str:
    """Say that a table was made at a smaller scale than the paper's."""
    return "" if study.scale == "paper" else f"{study.scale.capitalize()} scale: a part of the trials. "


def show_summary(
    study: Study,
    exhibit: str,
    metric: str,
    *,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    spread: Literal["standard error", "standard deviation"] = "standard error",
    bold: bool = False,
    higher: bool = False,
    save: str | None = None,
) -> Table:
    """Return mean and spread of a metric, datasets by methods, for an exhibit without printed numbers.

    With ``bold``, methods that cannot be told from the best of their row are bold; ``higher`` says that
    larger is better.
    """
    evidence = study.evidence(exhibit)
    methods = evidence.methods if methods is None else tuple(methods)
    rows, runs = [], []
    for label in evidence.datasets if datasets is None else datasets:
        samples = [evidence.sample(metric, dataset=label, method=method) for method in methods]
        cells = [_summary_cell(sample, spread) for sample in samples]
        runs += [sample.expected for sample in samples if sample.expected]
        whole = [i for i, sample in enumerate(samples) if sample.complete and sample.runs > 1]
        if bold and len(whole) > 1 and len({len(samples[i].values) for i in whole}) == 1:
            chosen = best_methods(np.column_stack([samples[i].values for i in whole]), higher=higher)
            for i, is_best in zip(whole, chosen, strict=True):
                cells[i] = replace(cells[i], bold=bool(is_best))
        rows.append((Cell(label), *cells))
    status = f"{evidence.status}. ".capitalize() if evidence.status else ""
    over = f" over {span(runs)} run{'s' if max(runs) > 1 else ''}" if runs else ""
    caption = (
        f"{scale_note(study)}{status}Mean of {metric} ± {spread}{over}. {BOLD_RULE if bold else ''}".strip()
    )
    table = Table(("set", *methods), tuple(rows), caption)
    save_table(study, table, save or f"{exhibit}_{metric}")
    return table


def _summary_cell(sample: Sample, spread: str) -> Cell:
    if not sample.runs:
        return Cell("" if not sample.expected else Verdict.PENDING.mark)
    width = sample.se if spread == "standard error" else sample.std
    return Cell(mean_and_spread(sample.mean, width), mark="" if sample.complete else Verdict.PENDING.mark)


def show_claims(study: Study, *ids: str, save: str | None = None) -> Table:
    """Return the verdicts on claims (by default all of the paper) and on their parts, each with its rule."""
    claims = [claim for claim in own_claims(study) if not ids or claim.id in ids]
    if missing := set(ids) - {claim.id for claim in claims}:
        raise PlanError(f"claims.yaml has no claims {sorted(missing)} of {study.key}.")
    reading = load_reading(study.module)
    rows = []
    for claim in claims:
        whole, *parts = judge_claim(claim, reading, study)
        check = reading.checks.get(claim.id) if reading and not claim.parts else None
        rule = " ".join(((check and check.__doc__) or "").split())  # what its docstring says
        rows.append((claim.id, claim.statement, rule, "", "", _told(whole.verdict), whole.note))
        for row in parts:
            part = claim.parts[row.column]
            ours = "" if row.ours is None else f"{row.ours:.3g}"
            told = row.note.removeprefix(str(part.rule)).removeprefix("; ")
            rows.append(("", part.says, str(part.rule), row.printed, ours, _told(row.verdict), told))
    header = ("claim", "the paper says", "rule", "printed", "ours", "verdict", "numbers")
    caption = (
        f"{scale_note(study)}A rule is a number and its limit. It is applied to the printed numbers first; "
        "where they fail it, it decides nothing. Where fewer than 95 % of bootstrap resamples of the runs "
        "agree, a part cannot be told."
    )
    table = Table(header, tuple(tuple(map(Cell, row)) for row in rows), caption)
    save_table(study, table, save or "claims_" + "_".join(claim.id for claim in claims))
    return table


def _told(verdict: Verdict) -> str:
    return f"{verdict.mark} {verdict}"


def show_choices(study: Study, words: Mapping[str, str] | None = None) -> Table:
    """Return what the paper leaves open, what was chosen, when, and why; ``words`` for names of choices."""
    said = words or {}
    choices = [
        (said.get(name, name), _in_words(c.value), c.chosen, c.reason) for name, c in study.choices.items()
    ]
    caption = "When: before or after our first numbers stood beside the printed ones."
    header = ("left open", "chosen", "when", "reason")
    return Table(header, tuple(tuple(map(Cell, row)) for row in choices), caption)


def _in_words(value: object) -> str:
    """Return the value of a parameter as text, without the marks of a program."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(own)}" for name, own in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def save_table(study: Study, table: Table, name: str, lines: list[list[str]] | None = None) -> None:
    """Save a table as CSV (our own lines, or the cells as shown) and as LaTeX."""
    if lines is None:
        lines = [
            list(table.header),
            *([_plain_cell(replace(c, bold=False)) for c in row] for row in table.rows),
        ]
    folder = study.folder / "tables"
    write_atomically(folder / f"{name}.csv", csv_text(lines).encode())
    write_atomically(folder / f"{name}.tex", table.to_latex().encode())
