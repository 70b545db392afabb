"""Reproduce a paper: what is to do, its evidence, its notebook, the comparison with what is committed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from kernsemble.report.ledger import load_reading
from kernsemble.report.notebooks import check_parameters, read_notebook, render_notebook
from kernsemble.report.published import own_cells, own_claims, read_cells, read_claims
from kernsemble.trials.adoption import Origins
from kernsemble.trials.errors import PlanError, duration, note
from kernsemble.trials.evidence import Evidence, write_atomically
from kernsemble.trials.plan import Key
from kernsemble.trials.rooms import FOLDER, PAPERS
from kernsemble.trials.study import Study, raise_on_failures
from kernsemble.trials.verification import Agreement, compare_study
from kernsemble.trials.warrants import Standing

AGREEMENT = "agreement.json"
RENDERED = "rendered.sha256"


@dataclass
class Summary:
    """What came of some papers."""

    agreements: dict[str, Agreement] = field(default_factory=dict)
    committed: dict[str, Standing] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> Agreement:
        """The comparison over all papers."""
        return sum(self.agreements.values(), Agreement())

    @property
    def nothing_differs(self) -> bool:
        """Whether trials were compared and none differs. Paths, stale and missing rows are only told."""
        return not (self.failed or self.total.differ) and bool(self.total.compared)

    @property
    def all_agree(self) -> bool:
        """Whether every trial whose data are here agrees with a current committed row."""
        return not self.failed and self.total.agree + self.total.unavailable == self.total.trials

    def lines(self, scale: str) -> list[str]:
        """Say how the trials compare, failures last."""
        lines = [f"{key}: {agreement}" for key, agreement in self.agreements.items()]
        for key, agreement in self.agreements.items():
            lines += [f"  DIFFERS {key} {name}" for name in agreement.differ[:20]]
            lines += [f"  differs by rounding: {key} {name}" for name in agreement.parted[:20]]
        if len(self.agreements) > 1:
            lines.append(f"all papers, {scale} scale: {self.total}")
        lines += self._committed_lines()
        return lines + [f"FAILED: {key}: {why}" for key, why in self.failed.items()]

    def _committed_lines(self) -> list[str]:
        """Say how the committed rows stand, and what refreshes stale ones."""
        standing = sum(self.committed.values(), Standing())
        lines = [f"committed: {standing}"] if self.committed else []
        return lines + [
            f"STALE: {key}: {own.stale} of {own.total} committed rows were made by other code, parameters or "
            f"data. Why: python -m kernsemble list --why {key}. If only code changed: adopt {key}; to "
            f"compute them again: reproduce {key} --scale paper"
            for key, own in self.committed.items()
            if own.stale
        ]


def check_before(studies: Sequence[Study], exhibits: Sequence[str] = (), *, notebook: bool = True) -> None:
    """Read every file that a mistake can be in, of all papers asked for: now, not after hours of work."""
    known = tuple(dict.fromkeys((*PAPERS, *(study.key for study in studies))))
    published = studies[0].root / "published"
    read_cells(published / "published.csv", papers=known)
    read_claims(published / "claims.yaml", papers=known)
    for study in studies:
        check_printed(study)
        for name in exhibits:
            study.plan(name)
    for study in studies if notebook else ():
        source = article(study)
        check_parameters(read_notebook(source), {"scale": study.scale}, source)


def check_printed(study: Study) -> None:
    """Raise ``PlanError`` for a printed number or claim of a study's paper that nothing can be put beside."""
    reading, cells = load_reading(study.module), own_cells(study)
    if reading is None:
        return
    for cell in cells:
        rule = reading.rule(cell)
        where = f"published.csv: {cell}"
        if rule is None:
            raise PlanError(
                f"{where}: the room of {study.key} has no rule for it. Mend the name, or add a rule."
            )
        if rule.read or rule.unavailable:
            continue
        evidence, metric, dataset, method = rule.place(cell.exhibit, cell.row, cell.column)
        declared = study.paper.exhibits.get(evidence)
        for what, name, known in (
            ("exhibit", evidence, study.exhibits),
            ("data set", dataset, study.paper.datasets),
            ("method", method, study.paper.methods(evidence) if declared else ()),
            ("metric", metric, declared.columns if declared else ()),
        ):
            if name not in known:
                near = get_close_matches(name, known, n=3) or list(known)
                raise PlanError(f"{where}: no {what} {name!r}; mend the name. Near it: {', '.join(near)}.")
    known, claims = {*study.exhibits, *(cell.exhibit for cell in cells)}, own_claims(study)
    if lost := sorted(reading.checks.keys() - {claim.id for claim in claims}):
        raise PlanError(
            f"claims.yaml: no claim {lost[0]}, which the room of {study.key} checks; put it back."
        )
    for claim in claims:
        where = f"claims.yaml: claim {claim.id}"
        if claim.exhibit not in known and not re.fullmatch(r"(figure|table)\d+", claim.exhibit):
            raise PlanError(f"{where}: no exhibit {claim.exhibit!r}; there are {', '.join(sorted(known))}.")
        check = reading.checks.get(claim.id)
        if check is not None and check.__name__ != claim.check:
            raise PlanError(f"{where}: its check is {check.__name__!r}, not {claim.check!r}.")


def reproduce_paper(
    study: Study,
    summary: Summary,
    *,
    fresh: bool = False,
    exhibits: Sequence[str] | None = None,
    notebook: bool = True,
) -> None:
    """Compute a paper's missing evidence, run its notebook, and compare with the committed evidence.

    Results go to ``results/SCALE/KEY``. At a smaller scale than the paper's, ``agreement.json`` there holds
    the comparison, and the notebook is not run again when nothing has changed since it was.
    """
    if study.compute:
        report = study.run(exhibits, fresh=fresh)
        for message, count in report.warnings.most_common(10):
            note(f"{count} trials warned: {message}")
        raise_on_failures(report)
        Origins(study).remember()
    if notebook and (fresh or not is_rendered(study)):
        render_paper(study)
    if study.scale != "paper":
        compare(study, summary)


def render_paper(study: Study) -> None:
    """Run a paper's notebook at the study's scale; its evidence is there already."""
    environment = {
        "KERNSEMBLE_JOBS": str(study.jobs),
        "KERNSEMBLE_ROOT": str(study.root),
        "KERNSEMBLE_COMPUTE": str(int(study.compute)),
        "KERNSEMBLE_OLDER": str(int(study.older)),
        "KERNSEMBLE_CLUSTER": study.cluster or "",
    }
    note(f"{study.key}: running its notebook")
    target = study.folder / f"{study.key}.ipynb"
    render_notebook(article(study), target, {"scale": study.scale}, environment)
    if study.scale != "paper":  # what is committed is DVC's matter
        write_atomically(study.folder / RENDERED, _rendering(study).encode())


def article(study: Study) -> Path:
    """Return where the source of a paper's notebook is."""
    return study.root / "notebooks" / study.key / f"{study.key}.ipynb"


def is_rendered(study: Study) -> bool:
    """Whether nothing has changed since a notebook was run: neither what it comes from, nor what it wrote."""
    path = study.folder / RENDERED
    return path.is_file() and path.read_text() == _rendering(study)


def _rendering(study: Study) -> str:
    """Return the digest of all files that a rendered notebook comes from, and of what it wrote."""
    root, package = study.root, Path(__file__).parents[1]
    files = [article(study), root / "params.yaml", root / "requirements.lock"]
    for folder in (package, FOLDER / study.key, root / "published", study.folder):
        files += [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts]
    digest = hashlib.sha256()
    for path in files:
        if path.is_file() and path.name not in (RENDERED, AGREEMENT, "failures.txt"):
            digest.update(f"{path}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def compare(study: Study, summary: Summary) -> None:
    """Compare a study with the committed evidence, and keep the result."""
    committed = study.committed
    agreement = summary.agreements[study.key] = compare_study(study, committed)
    summary.committed[study.key] = committed.standing
    text = json.dumps(asdict(agreement), indent=2, ensure_ascii=False) + "\n"
    write_atomically(study.folder / AGREEMENT, text.encode())


def exhibit_lines(study: Study, *, why: bool = False) -> Iterator[str]:
    """Yield a heading for a paper and a line for each exhibit that the scale has, then how its rows stand.

    With ``why``, what made rows stale follows each exhibit.
    """
    whole = study if study.scale == "paper" else study.committed
    yield f"{study.key}: {study.title} ({study.scale} scale, {study.jobs} jobs)"
    width = max(map(len, study.exhibits), default=0)
    origins, standing = Origins(study), Standing()
    for name in study.exhibits:
        evidence = study.read(name)
        wanted = len(evidence.plan.stamps)
        if wanted:
            known = [evidence] if whole is study else [evidence, whole.read(name)]
            done = f"{len(evidence.current):>6} of {wanted:<6}"
            yield f"  {name:{width}}  {done} {_state(evidence, known, study.jobs)}"
            standing += evidence.standing
            if why:
                yield from (f"    {reason}" for reason in origins.reasons(evidence))
    yield f"  {standing}"
    if why:
        origins.remember()


def _state(evidence: Evidence, known: list[Evidence], n_jobs: int) -> str:
    parts = [f"{len(evidence.stale)} stale"] if evidence.stale else []
    if evidence.file.damaged:
        parts.append(f"{len(evidence.file.damaged)} damaged lines")
    if evidence.contradicted:
        parts.append(f"{len(evidence.contradicted)} twice with other numbers")
    if evidence.refused:
        parts.append(f"{len(evidence.refused)} adoptions refused")
    if evidence.missing:
        left = seconds_left(evidence, known)
        processes = 1 if evidence.plan.exhibit.alone else n_jobs
        parts.append("time left unknown" if left is None else f"about {duration(left / processes)} left")
    return ", ".join(parts) or "complete"


def seconds_left(evidence: Evidence, known: list[Evidence]) -> float | None:
    """Estimate the seconds of missing rows from rows of the same cell, else method, else any."""
    by_cell: dict[tuple[str, ...], list[float]] = {}
    for row in (row for source in known for row in source.file.rows):
        for name in _scopes(row.key):
            by_cell.setdefault(name, []).append(row.seconds)
    if not by_cell:
        return None
    means = {name: float(np.mean(seconds)) for name, seconds in by_cell.items()}
    return sum(next(means[name] for name in _scopes(key) if name in means) for key in evidence.missing)


def _scopes(key: Key) -> list[tuple[str, ...]]:
    return [(key.dataset, key.method), (key.method,), ()]
