"""The page on reliability: every figure from what the tests noted, none typed by hand.

``make test-faults`` writes ``results/reliability.json``, ``make matrix`` ``results/matrix.json``, ``make
audit`` ``results/audit.json``, and each writes ``docs/reliability.md`` with this program. A test holds the
page to the files.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

SECTIONS = {
    "Faults": """Runs are killed, disks filled, files damaged, for real, at random moments. It is *survived*
when the message says what to do, nothing that was saved is lost, and going on gives the evidence of
an undisturbed run: complete, nothing twice, identical except for timings.""",
    "Cluster": """Schedulers and workers are real processes, on this machine or on hosts of their own (network
namespaces joined by a bridge). It is *survived* when the evidence is that of a run without a cluster:
identical except for timings, nothing twice, nothing lost.""",
    "Bad input": """Anything at all is put in every place of the files that people edit, and bytes change in
files that programs read. An input is *survived* when it is valid, or refused at once by a message
that names the key or the file; no code is run, nothing is written elsewhere, no work is done first.""",
    "Estimators": """Random problems of at most twenty samples: a class all but empty, ties, constant and
repeated columns, scales from 1e-120 to 1e120, weights over eight orders of magnitude. All estimators take
turns. Each fit is judged by bounds that its solver had no part in (`tests/support/slow_reference.py`): the
objective must be what the model says, the certificate must be true, and a gap that was promised
must be reached. Kernels with values above ten million are fitted but not judged: their rounding is larger
than what is judged, and certificates there can be false. Scale features that are far from 0.""",
    "Determinism": """The same trials with other numbers of processes and threads, in another order, and with
other versions of Python and of all libraries: the oldest allowed and the newest that there are. What
counts as *survived* is in each row: trials are equal to the last digit in one environment; between
versions last digits move, and no verdict of the ledger may change with them.""",
    "Load": """Rows stay in a file, or are distributed over worker processes, and trials come by the hundred.
*Survived* is what the row says. How far it goes, and how fast: [data larger than memory](growth.md),
[clusters](guide.md#on-a-cluster).""",
    "Supply": """Licences, the bill of materials, and who can reach what listens; see
[dependencies](dependencies.md).""",
}
HEAD = """# Reliability

What we tested, and the results. The tests themselves write the numbers: `make test-faults`
tries all of it (`make test` a part), `make matrix` compares versions of Python and NumPy.
"""


def read_all(root: Path, kind: str = "figures") -> list:
    """Return the figures that tests noted, or the names of tests that failed, of all files."""
    files = [root / "results" / name for name in ("reliability.json", "matrix.json")]
    read = [json.loads(path.read_text(encoding="utf-8")) for path in files if path.is_file()]
    return [entry for found in read for entry in found.get(kind, ())]


def reliability_page(figures: list[dict]) -> str:
    """Return the page."""
    parts = [HEAD]
    for section, text in SECTIONS.items():
        own = [figure for figure in figures if figure["section"] == section]
        if own:
            rows = ["| | tried | survived | |", "|---|---:|---:|---|"]
            rows += [f"| {f['what']} | {f['tried']:,} | {f['survived']:,} | {f['detail']} |" for f in own]
            parts.append(f"## {section}\n\n{text}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def audit_sentence(root: Path) -> str:
    """Say what the question for known vulnerabilities found."""
    path = root / "results" / "audit.json"
    if not path.is_file():
        return ""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not found["looked_up"]:
        said = (
            "**not checkable** where this page was written: no database of vulnerabilities could be reached, "
            f"so none of {found['pins']} pins was looked up"
        )
    else:
        listed = "; ".join(found["vulnerable"]) or "none is vulnerable"
        said = f"{found['looked_up']} of {found['pins']} pins looked up in {found['database']}: {listed}"
    return f"Known vulnerabilities (`make audit`, {found['tool'].replace('==', ' ')}): {said}.\n"


def failed_sentence(failed: list[str]) -> str:
    """Name the tests that failed, whose faults no figure counts."""
    names = ", ".join(f"`{name}`" for name in failed)
    return f"**Not survived**, and not counted above: {names}.\n" if failed else ""


def whole_page(root: Path) -> str:
    """Return the page of a repository."""
    figures, failed = read_all(root), read_all(root, "failed")
    parts = (reliability_page(figures), failed_sentence(failed), audit_sentence(root))
    return "\n".join(part for part in parts if part)


def main(root: Path) -> None:
    """Write the page."""
    (root / "docs" / "reliability.md").write_text(whole_page(root), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
