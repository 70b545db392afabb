"""Ask whether a version pinned in ``requirements.lock`` has a known vulnerability.

pip-audit calls it success when a database knows none of the packages; here that is «not checkable». Exit
status: 0 all pins were looked up and none is vulnerable, 1 some are, 3 not (all) checkable. What was found
is written to ``results/audit.json``, which ``docs/reliability.md`` shows.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOL = "pip-audit==2.10.1"
DATABASES = {"pypi": "the Python Package Index", "osv": "the Open Source Vulnerabilities database"}


def ask(database: str) -> list[dict]:
    """Return what a database says of each pin; an empty list when it cannot be reached."""
    command = [
        ROOT / ".venv/bin/uv", "tool", "run", "--quiet", "--from", TOOL, "pip-audit", "--no-deps",
        "--disable-pip", "--requirement", ROOT / "requirements.lock", "--vulnerability-service", database,
        "--timeout", "10", "--progress-spinner", "off", "--format", "json",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return []


def main() -> int:
    """Ask one database after the other until one knows the packages."""
    pins = sum(
        "==" in line for line in (ROOT / "requirements.lock").read_text().splitlines() if line[:1] != "#"
    )
    looked_up, vulnerable, asked = 0, [], ""
    for database, name in DATABASES.items():
        asked = name
        answers = [entry for entry in ask(database) if "skip_reason" not in entry]
        looked_up = len(answers)
        vulnerable = sorted(
            f"{entry['name']} {entry['version']}: {', '.join(v['id'] for v in entry['vulns'])}"
            for entry in answers
            if entry.get("vulns")
        )
        if looked_up:
            break
    found = {"tool": TOOL, "database": asked, "pins": pins, "looked_up": looked_up, "vulnerable": vulnerable}
    (ROOT / "results" / "audit.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for line in vulnerable:
        sys.stderr.write(f"{line}\n")
    if not looked_up:
        sys.stderr.write("kernsemble: not checkable here: no database of vulnerabilities can be reached.\n")
    return 1 if vulnerable else 0 if looked_up == pins else 3


if __name__ == "__main__":
    sys.exit(main())
