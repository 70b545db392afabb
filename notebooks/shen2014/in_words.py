"""What tables I to III, figures 2 and 4 and the row of vowel say, in sentences made of their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.report.ledger import COMPARED, LATE, LedgerRow, judge_cell
from kernsemble.report.tables import Table
from kernsemble.report.words import in_order, joined, per_set, said
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from shen2014.claims import FOURIER, PERCEPTRON, TABLE1, label_of, mean_ranks, oracle_calls, reading
from shen2014.on_print import printed_cells, printed_errors
from shen2014.trials import IDA_SETS, UCI_SETS, VISION_SETS

HALVES = {"table1": {"stumps": TABLE1}, "table2": {"cosines": FOURIER, "perceptrons": PERCEPTRON}}
COMPARABLE = tuple(row for row in IDA_SETS if row != "f-solar")  # its classes are not documented


def comparable(study: Study, exhibit: str) -> dict[str, str]:
    """Return the labels of the scale by printed row, without flare-solar."""
    labels = {row: label_of(study, exhibit, row) for row in COMPARABLE}
    return {row: label for row, label in labels.items() if label in study.evidence(exhibit).datasets}


def _short(method: str) -> str:
    return method.rpartition(":")[2]


def say_two_classes(study: Study, exhibit: str) -> Table:
    """Say of table I or II in what order the methods come, and how far each agrees with the print."""
    evidence, sets = study.evidence(exhibit), comparable(study, exhibit)
    rows = []
    for half, methods in HALVES[exhibit].items():
        present = [method for method in methods if method in evidence.methods] if sets else []
        if len(present) > 1:
            rows.append((half, lambda p=present: _order(_mean_errors(evidence, sets.values(), p), p)))
        rows += [(m, lambda m=m: agreement(study, exhibit, sets, m)) for m in present]
    if rows:
        rows.append(("to the digit", lambda: _to_the_digit(study, exhibit, sets)))
    return said(study, exhibit, rows)


def _mean_errors(evidence: Evidence, labels: Sequence[str], methods: Sequence[str]) -> np.ndarray:
    """Return means, sets x methods; sets may have different numbers of runs, and all have to be there."""
    return np.array([evidence.array("error", [label], methods).mean(axis=0)[0] for label in labels])


def _order(means: np.ndarray, methods: Sequence[str]) -> str:
    names = [_short(method) for method in methods]
    lowest = np.isclose(means, means.min(axis=1, keepdims=True)).sum(axis=0)
    counts = ", ".join(f"{name} {count}" for name, count in zip(names, lowest, strict=True))
    errors, ranks = in_order(names, means.mean(axis=0)), in_order(names, mean_ranks(means))
    return f"mean error: {errors}; mean rank: {ranks}; lowest mean, of {len(means)} sets: {counts}"


def judged(study: Study, exhibit: str, rows: Sequence[str], method: str) -> list[LedgerRow]:
    """Return the ledger's rows of a method that can be compared; raise unless all of them are."""
    cells = printed_cells(study.root)
    found = [judge_cell(cells[exhibit, row, method], reading, study) for row in rows]
    late = [row for row in found if row.verdict in LATE]
    if late:
        raise IncompleteEvidenceError(
            f"{exhibit}: {len(found) - len(late)} of {len(found)} sets of {method}",
            stale=any(row.verdict == "stale" for row in late),
        )
    return [row for row in found if row.verdict in COMPARED]


def agreement(study: Study, exhibit: str, rows: Sequence[str], method: str) -> str:
    """Say how many cells of a method match the print, which do not, and by how much."""
    cells = judged(study, exhibit, rows, method)
    if not cells:
        return "nothing to compare at this scale"
    off = np.array([cell.ours - float(cell.printed) for cell in cells])
    parts = [f"{sum(cell.verdict == 'match' for cell in cells)} of {len(cells)} match"]
    for verdict in ("better", "worse"):
        which = [f"{c.row} ({d:+.2f})" for c, d in zip(cells, off, strict=True) if c.verdict == verdict]
        parts += [f"{verdict}: {joined(which)}"] if which else []
    return "; ".join([*parts, f"{off.mean():+.2f} points from the print on average"])


def _to_the_digit(study: Study, exhibit: str, rows: Sequence[str]) -> str:
    """Say which cells have the printed mean and the printed deviation."""
    methods = [m for m in study.evidence(exhibit).methods if m in sum(HALVES[exhibit].values(), ())]
    cells = [cell for method in methods for cell in judged(study, exhibit, rows, method)]
    same = [f"{cell.row} {_short(cell.column)}" for cell in cells if _equal_as_printed(cell)]
    which = f": {joined(same)}" if same else ""
    return f"{len(same)} of {len(cells)} cells have the printed mean and the printed deviation{which}"


def _equal_as_printed(cell: LedgerRow) -> bool:
    pairs = ((cell.ours, cell.printed), (cell.ours_spread, cell.printed_spread))
    return all(ours is not None and f"{ours:.2f}" == f"{float(theirs):.2f}" for ours, theirs in pairs)


def say_details(study: Study) -> Table:
    """Say details of table I: heart's realisations, where the search for C ends, what 500 rounds give."""
    evidence, sets = study.evidence("table1"), comparable(study, "table1")
    exponents = study.protocol("table1")["log2_C"]

    def realisations(method: str) -> str:
        values = evidence.array("error", [sets["heart"]], [method])[:, 0, 0]
        return f"{', '.join(f'{value:.0f}' for value in values)} %; mean {values.mean():.1f} %"

    def costs() -> str:
        found = np.log2(evidence.array("C", list(sets.values()), ["CGENS"]))[:, :, 0]
        ends = [int((found == end).sum()) for end in (min(exponents), max(exponents))]
        where = ", ".join(
            f"{row} {low:.0f} to {high:.0f}"
            for row, low, high in zip(sets, found.min(axis=0), found.max(axis=0), strict=True)
        )
        return (
            f"at the lower end of the grid in {ends[0]} of {found.size} runs, at the upper end in {ends[1]}; "
            f"exponents: {where}"
        )

    def rounds(method: str) -> str:
        printed = printed_errors(study, "table1", list(sets), [method])[:, 0]
        means = [
            evidence.array(metric, list(sets.values()), [method]).mean(axis=0)[:, 0]
            for metric in ("error", "error_500")
        ]
        said_of = [f"{e.mean():.2f} %, {np.abs(e - printed).mean():.2f} points" for e in means]
        return f"selected: {said_of[0]} from the print on average; all 500: {said_of[1]}"

    rows = []
    if "heart" in sets:
        present = [method for method in ("SVM", "CGENS") if method in evidence.methods]
        rows += [(f"heart, split by split, {m}", lambda m=m: realisations(m)) for m in present]
    if sets and "CGENS" in evidence.methods:
        rows.append(("C of CGENS, a power of 2", costs))
    grown = [method for method in ("AdaBoost", "LPBoost", "CGENS") if sets and method in evidence.methods]
    rows += [(f"{method}, numbers of rounds", lambda m=method: rounds(m)) for method in grown]
    return said(study, "details", rows)


def say_weak_learners(study: Study) -> Table:
    """Say on how many sets cosines serve CGENS better than stumps and perceptrons, here and in print."""
    places = {
        "stumps": ("table1", "CGENS"),
        "perceptrons": ("table2", "perceptron:CGENS"),
        "cosines": ("table2", "fourier:CGENS"),
    }
    there = all(method in study.evidence(exhibit).methods for exhibit, method in places.values())
    rows = list(comparable(study, "table1")) if there else []

    def against(other: str) -> str:
        counts = []
        for column in ("ours", "printed"):
            values = {
                name: [float(getattr(cell, column)) for cell in judged(study, exhibit, rows, method)]
                for name, (exhibit, method) in places.items()
            }
            wins = sum(a < b for a, b in zip(values["cosines"], values[other], strict=True))
            counts.append(f"{wins} of {len(rows)} sets")
        return f"cosines give CGENS the lower mean error on {counts[0]}; in print on {counts[1]}"

    sentences = [(f"against {other}", lambda other=other: against(other)) for other in places]
    return said(study, "weak_learners", sentences[:2] if rows else [])


def say_calls(study: Study) -> Table:
    """Say who errs less at equal numbers of oracle calls, on average and set by set."""
    evidence, sets, methods = study.evidence("table1"), comparable(study, "table1"), ("AdaBoost", "CGENS")
    calls = [f"{count:,}" for count in oracle_calls(study)]

    def means(method: str) -> np.ndarray:
        return np.array([np.mean(evidence.runs("by_calls", d, method), axis=0) for d in sets.values()])

    def averages(method: str) -> str:
        numbers = ", ".join(f"{mean:.2f}" for mean in means(method).mean(axis=0))
        return f"{numbers} % on average over {len(sets)} sets, with {joined(calls)} calls"

    def ahead() -> str:
        better = means("CGENS").mean(axis=0) < means("AdaBoost").mean(axis=0)
        where = [count for count, is_better in zip(calls, better, strict=True) if is_better]
        return f"CGENS has the lower average with {joined(where) or 'no number of'} calls"

    def by_set() -> str:
        less = means("CGENS") - means("AdaBoost")
        counts = [[row for row, d in zip(sets, less[:, -1] * sign, strict=True) if d < 0] for sign in (1, -1)]
        always = [row for row, d in zip(sets, less, strict=True) if (d > 0).all()]
        return (
            f"with {calls[-1]} calls CGENS is ahead on {len(counts[0])} of {len(sets)} sets, AdaBoost on "
            f"{len(counts[1])}{f' ({joined(counts[1])})' if counts[1] else ''}; AdaBoost is ahead at every "
            f"budget on {joined(always) or 'none'}"
        )

    if not sets or not set(methods) <= set(evidence.methods):
        return said(study, "calls", [])
    rows = [(method, lambda method=method: averages(method)) for method in methods]
    return said(study, "calls", [*rows, ("who is ahead", ahead), ("set by set", by_set)])


def say_training_time(study: Study) -> Table:
    """Say how many times the seconds of CGENS LPBoost takes; of a run that its limit ended, a lower bound."""
    places = {
        "500 rounds on 10,000 digits": ("figure2", "seconds_curve", 500),
        "100 rounds on 60,000 digits": ("figure2_examples", "largest_curve", 100),
    }
    rows = [
        (f"{method}, {where}", lambda m=method, p=place: _times(study, m, *p))
        for where, place in places.items()
        for method in study.evidence(place[0]).methods
        if method != "CGENS"
    ]
    return said(study, "training_time", rows)


def _times(study: Study, method: str, exhibit: str, metric: str, n_rounds: int) -> str:
    evidence, checkpoints = study.evidence(exhibit), study.protocol(exhibit)["time_checkpoints"]
    (fast, slow), (_, reached) = (
        [evidence.runs(name, "MNIST", m)[0] for m in ("CGENS", method)] for name in (metric, "reached")
    )
    last = min(len(fast), len(slow)) - 1
    text = (
        f"{slow[last] / fast[last]:.0f} times after {checkpoints[last]} rounds ({slow[last]:.1f} s against "
        f"{fast[last]:.2f} s)"
    )
    if checkpoints[last] == n_rounds:
        return text
    ended, end = int(np.atleast_1d(reached)[-1]), checkpoints[len(fast) - 1]
    return (
        f"{text}; the run ends in round {ended} of {n_rounds}, so that after {end} rounds the ratio is at "
        f"least {slow[-1] / fast[-1]:.0f} (a lower bound)"
    )


def say_classes(study: Study) -> Table:
    """Say of table III in what order the methods come, how far they agree with the print, and their time."""
    evidence = study.evidence("table3")
    uci, vision = ([d for d in group if d in evidence.datasets] for group in (UCI_SETS, VISION_SETS))
    groups = {"UCI sets": uci, "vision sets": vision, "all sets": [*uci, *vision]}
    methods, rows = evidence.methods, []
    for name, labels in groups.items():
        if labels and len(methods) > 1 and (name != "all sets" or (uci and vision)):
            rows.append((name, lambda d=labels: _order(_mean_errors(evidence, d, methods), methods)))
    if methods:
        rows += [(m, lambda m=m: agreement(study, "table3", groups["all sets"], m)) for m in methods]
    rows += [(f"{label}, seconds", lambda d=label: _seconds(evidence, d)) for label in vision]
    return said(study, "table3", rows)


def _seconds(evidence: Evidence, label: str) -> str:
    """Say how long the last fit of each method took, selection left out."""
    seconds = [np.array(evidence.runs("seconds_curve", label, m))[:, -1].mean() for m in evidence.methods]
    return f"500 rounds take {in_order(evidence.methods, seconds, '.1f')} seconds"


def say_vowel(study: Study) -> Table:
    """Say how far each reading of vowel's row is from the print, and which is nearest for CGENS-SLS."""
    evidence, printed = study.evidence("vowel"), printed_cells(study.root)
    cell = printed["table3", "vowel", "CGENS-SLS"]
    of_rivals = {name: name.split(",")[0] for name in evidence.methods if name.startswith("AdaBoost")}

    def mean_of(reading: str) -> float:
        return float(evidence.array("error", ["vowel"], [reading]).mean())

    def off(reading: str) -> str:
        theirs = printed["table3", "vowel", of_rivals.get(reading, "CGENS-SLS")].value
        return f"{mean_of(reading):.1f} %, {mean_of(reading) - theirs:+.1f} points from the print"

    readings = [reading for reading in evidence.methods if reading not in of_rivals]

    def nearest() -> str:
        distances = {reading: abs(mean_of(reading) - cell.value) for reading in readings}
        best = min(distances, key=distances.get)
        spread = float(cell.spread)
        near = "within" if distances[best] <= spread else "beyond"
        return (
            f"{best}, {distances[best]:.1f} points away, {near} the printed deviation of {spread} "
            f"({sum(d <= spread for d in distances.values())} of {len(distances)} readings are within it)"
        )

    rows = [(reading, lambda reading=reading: off(reading)) for reading in evidence.methods]
    return said(study, "vowel", [*rows, ("nearest for CGENS-SLS", nearest)] if readings else rows)


def say_scenes(study: Study) -> Table:
    """Say how many scenes are classified wrongly, and as how many kinds the surest of them are taken."""

    def say(evidence: Evidence, label: str) -> str:
        (error,) = evidence.array("error", [label], ["CGENS-SLS"]).ravel()
        right, wrong, taken = (
            evidence.runs(name, label, "CGENS-SLS")[0] for name in ("right", "wrong", "taken_for")
        )
        return (
            f"{error:.1f} % of the test pictures are classified wrongly; {len(wrong)} of them are shown, "
            f"taken for {len(np.unique(taken))} kinds, and {len(right)} of the others"
        )

    return per_set(study, "figure4", say)
