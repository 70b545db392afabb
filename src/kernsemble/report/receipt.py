"""A receipt: what was run on which machine, and how it compares with the committed evidence, as JSON.

The digest of a paper's rows is taken over what ``verify`` compares: all metrics but timing, as computed, so
two machines with equal digests have equal rows to the last digit.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import kernsemble
from kernsemble.trials.adoption import head_of
from kernsemble.trials.arithmetic import of_processor, provenance
from kernsemble.trials.study import Study
from kernsemble.trials.verification import RULE, Agreement

COUNTS = ("trials", "agree", "differ", "parted", "stale", "missing", "uncomputed", "unavailable")


def make_receipt(studies: Sequence[Study], agreements: Mapping[str, Agreement]) -> dict[str, Any]:
    """Return the receipt of a comparison: papers at a scale, and the agreement of each."""
    lock, arithmetic = provenance()
    head, changed = head_of(studies[0].root)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": head + ("+" if changed else "") or "unknown",
        "version": kernsemble.__version__,
        "lock": lock,
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": of_processor("model name") or platform.processor() or platform.machine(),
        "arithmetic": arithmetic,
        "scale": studies[0].scale,
        "rule": RULE,
        "total": counts(sum(agreements.values(), Agreement())),
        "papers": {
            study.key: counts(agreements[study.key]) | {"rows": digest_of_rows(study)} for study in studies
        },
    }


def counts(agreement: Agreement) -> dict[str, int]:
    """Return the counts of a comparison; of trials that differ or part, how many."""
    values = {name: getattr(agreement, name) for name in COUNTS}
    return {name: len(value) if isinstance(value, list) else value for name, value in values.items()}


def digest_of_rows(study: Study) -> str:
    """Return the SHA-256 digest of all rows of a study that are current, timing apart."""
    digest = hashlib.sha256()
    for name in study.exhibits:
        evidence = study.read(name)
        metrics = evidence.plan.exhibit.metrics
        for key in sorted(evidence.current):
            row = evidence.current[key].metrics
            line = [name, *map(str, key), *(f"{metric}={row.get(metric, '')}" for metric in metrics)]
            digest.update(("\t".join(line) + "\n").encode())
    return digest.hexdigest()


def receipt_text(studies: Sequence[Study], agreements: Mapping[str, Agreement]) -> str:
    """Return the receipt of a comparison as the text of its file."""
    return json.dumps(make_receipt(studies, agreements), indent=2, ensure_ascii=False) + "\n"
