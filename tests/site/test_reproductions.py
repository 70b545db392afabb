"""The log of reproductions: every line has its receipt, and says what the receipt says."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECEIPTS = ROOT / "docs" / "receipts"
LINE = re.compile(
    r"^\| (?P<date>\d{4}-\d\d-\d\d) \| (?P<who>[^|]+) \| \[[^]]+\]\(receipts/(?P<file>[\w.-]+\.json)\) "
    r"\| (?P<commit>[0-9a-f]{7,40}) \| (?P<processor>[^|]+) \| (?P<agree>\d+) of (?P<trials>\d+) "
    r"\| (?P<notes>[^|]*) \|$"
)


def complaints(page, folder):
    """What is wrong with a log and its receipts."""
    table = page.split("|---|", 1)[1].splitlines()[1:]
    found, named = [], set()
    for line in filter(None, table):
        match = LINE.match(line)
        if match is None:
            found.append(f"not a line of the log: {line}")
            continue
        file = folder / match["file"]
        named.add(match["file"])
        if not file.is_file():
            found.append(f"no receipt {match['file']}")
            continue
        receipt = json.loads(file.read_text(encoding="utf-8"))
        total = receipt["total"]
        told = (match["date"], match["processor"].strip(), int(match["agree"]), int(match["trials"]))
        if told != (receipt["date"], receipt["processor"], total["agree"], total["trials"]):
            found.append(f"{match['file']} says otherwise than {line}")
        if receipt["commit"].endswith("+") or not receipt["commit"].startswith(match["commit"]):
            found.append(f"{match['file']} is of commit {receipt['commit']}")
    found += [f"{path.name} is in no line" for path in folder.glob("*.json") if path.name not in named]
    return found


def test_every_line_of_the_log_has_its_receipt():
    assert complaints((ROOT / "docs/reproductions.md").read_text(encoding="utf-8"), RECEIPTS) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"commit": "abcdef1234+"}, "is of commit"),
        ({"total": {"agree": 8, "trials": 9}}, "says otherwise"),
        ({"processor": "another"}, "says otherwise"),
    ],
)
def test_a_line_that_its_receipt_does_not_bear_out_is_refused(tmp_path, change, told):
    receipt = {"date": "2026-01-02", "commit": "abcdef1234", "processor": "Some CPU"}
    receipt |= {"total": {"agree": 9, "trials": 9}, **change}
    (tmp_path / "a.json").write_text(json.dumps(receipt))
    line = "| 2026-01-02 | A. Reader | [receipt](receipts/a.json) | abcdef1 | Some CPU | 9 of 9 | |"
    found = complaints(f"|---|\n{line.replace('| |', '|  |')}\n", tmp_path)
    assert (found == []) if told is None else any(told in text for text in found)


def test_a_receipt_without_a_line_is_refused(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    assert complaints("|---|\n", tmp_path) == ["a.json is in no line"]
