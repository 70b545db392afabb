"""What explains the printed tables 3 and 4: readings scored by all that is printed, and the facts beside.

A reading is a form of the linear and of the quadratic kernel and a C for each block of table 3, one for all
its rows or each row's own by validation error. It agrees with a printed training error within 2 points, a
test error within 1, a number of columns within a factor of 1.5, and a test time over that of the composite
L+Q+R within a factor of 2. The counts of the 2-norm are left out: by theory they do not hang on the reading.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.report.verdicts import Verdict
from kernsemble.report.words import span
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study
from bi2004.claims import reading
from bi2004.facts import DROPPED, _columns, _listed, _mean, _rank_correlation, printed_numbers
from bi2004.search import (
    BATCHES,
    BEST_C,
    BEST_FORMS,
    INDEFINITE,
    LINEAR_FORMS,
    PLAIN_TAUS,
    QUADRATIC_FORMS,
    RESTART_AT,
    UNDIVIDED,
    solved_row,
)
from bi2004.trials import CHOICES, KERNELS, MIXTURE, NORMS, SMALL_CHOICES, SMALL_SETS, TOLERANCES

TRAIN_POINTS, TEST_POINTS, COUNT_FACTOR, SECONDS_FACTOR = 2.0, 1.0, 1.5, 2.0
VALIDATION = "each row's own"  # C by validation error
SEARCHED_FORMS = tuple(product(LINEAR_FORMS, QUADRATIC_FORMS[:2]))
COUNTED = {"C_l": "linear", "C_q": "quadratic", "C_r": "rbf"}
NAMES = {"R_trn": "training error", "R_tst": "test error", "C_l": "columns", "C_q": "quadratic columns"}
NAMES |= {"C_r": "RBF columns"}
COMPOSITE = "L+Q+R"
N_PRINTED = {"2-norm": 20, "1-norm": 29}  # errors and ratios of seconds; under the 1-norm also columns
Forms = tuple[str, str]


def found_row(
    study: Study, norm: str, choice: str, forms: Forms, C: float | str, label: str = "Forest"
) -> dict[str, float]:
    """Return the mean numbers of a row of the search at a C, or at the C of least validation error."""
    evidence, Cs = study.evidence("search"), study.protocol("search")["search_Cs"][label]
    method = solved_row(norm, choice, *forms)

    def runs(metric: str) -> np.ndarray:
        return np.array(evidence.runs(metric, label, method))

    validation = runs("validation")
    at = validation.argmin(axis=1) if C == VALIDATION else np.full(len(validation), Cs.index(C))
    metrics = ("train", "test", *KERNELS, "test_seconds")
    return {metric: float(runs(metric)[np.arange(len(at)), at].mean()) for metric in metrics}


def agreements(study: Study, norm: str, forms: Forms, C: float | str) -> dict[tuple[str, str], bool]:
    """Say for each printed number of a block of table 3, by row and column, whether a reading agrees."""
    printed = printed_numbers(study, "table3")
    rows = {choice: found_row(study, norm, choice, forms, C) for choice in CHOICES}
    agree = {}
    for choice, row in rows.items():

        def theirs(column: str, of: str = choice) -> float:
            return printed["table3", f"{norm}/{of}", column]

        agree[choice, "R_trn"] = abs(row["train"] - theirs("R_trn")) <= TRAIN_POINTS
        agree[choice, "R_tst"] = abs(row["test"] - theirs("R_tst")) <= TEST_POINTS
        if choice != COMPOSITE:
            ours = row["test_seconds"] / rows[COMPOSITE]["test_seconds"]
            agree[choice, "T_tst"] = _near(ours, theirs("T_tst") / theirs("T_tst", COMPOSITE), SECONDS_FACTOR)
        if norm == "1-norm":
            there = [c for c in COUNTED if ("table3", f"{norm}/{choice}", c) in printed]
            for column in there[:1] if "+" in choice else there:
                agree[choice, column] = _near(row[COUNTED[column]], theirs(column), COUNT_FACTOR)
    return agree


def _near(ours: float, printed: float, factor: float) -> bool:
    return bool(printed <= factor * ours and ours <= factor * printed)


def _costs(study: Study) -> tuple[float | str, ...]:
    return (*study.protocol("search")["search_Cs"]["Forest"], VALIDATION)


def show_search(study: Study) -> Table:
    """Return how many printed numbers of each block of table 3 each reading agrees with."""
    costs, rows = _costs(study), []
    for norm, forms in product(NORMS, SEARCHED_FORMS):
        try:
            found = [agreements(study, norm, forms, C) for C in costs]
        except IncompleteEvidenceError:
            rows.append((Cell(norm), *map(Cell, forms), *[Cell(Verdict.PENDING.mark)] * len(costs)))
            continue
        bold = [forms == BEST_FORMS and C == BEST_C for C in costs]
        counts = [Cell(str(sum(some.values())), bold=own) for some, own in zip(found, bold, strict=True)]
        rows.append((Cell(norm), *map(Cell, forms), *counts))
    header = ("norm", "linear", "quadratic", *(f"C = {C:g}" for C in costs[:-1]), f"C {VALIDATION}")
    caption = (
        f"{scale_note(study)}Printed numbers of Forest that agree, of {N_PRINTED['2-norm']} of the 2-norm "
        f"and {N_PRINTED['1-norm']} of the 1-norm: training errors within {TRAIN_POINTS:g} points, test "
        f"errors within {TEST_POINTS:g}, columns of the 1-norm within a factor of {COUNT_FACTOR:g}, test "
        f"seconds over the composite's within {SECONDS_FACTOR:g}. Bold: the best reading."
    )
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "search")
    return table


@reading.facts(
    "search",
    *("agree", "cells", "feature", "highest", "apart", "apart_seconds", "C"),
    *("R_two", "R_one", "undivided", "homogeneous", "Q"),
    *(f"{form}_{name}" for form in ("raw", "raw1", "feature") for name in (*KERNELS, "share")),
    "share_printed",
)
def what_the_search_found(study: Study) -> dict[str, float | str]:
    """How many printed numbers the best reading agrees with; columns and test seconds of 1-norm mixtures.

    feature: the most that a reading with inner products per feature agrees with. highest: the most that any
    does. apart: rows and columns of the best reading that do not agree.
    """
    counts = {
        (norm, forms): {C: sum(agreements(study, norm, forms, C).values()) for C in _costs(study)}
        for norm, forms in product(NORMS, SEARCHED_FORMS)
    }
    most = {forms: sum(max(counts[norm, forms].values()) for norm in NORMS) for forms in SEARCHED_FORMS}
    best = {norm: agreements(study, norm, BEST_FORMS, BEST_C) for norm in NORMS}
    apart = [(norm, *place) for norm, some in best.items() for place, yes in some.items() if not yes]
    named = [f"{row}, {NAMES[column]} ({norm})" for norm, row, column in apart if column in NAMES]
    facts = {
        "agree": sum(sum(some.values()) for some in best.values()),
        "cells": sum(map(len, best.values())),
        "feature": max(count for forms, count in most.items() if forms[0] == LINEAR_FORMS[1]),
        "highest": max(most.values()),
        "apart": "; ".join(named),
        "apart_seconds": len(apart) - len(named),
        "C": f"{BEST_C:g}",
        "R_two": _errors_by_cost(study, "2-norm", "R"),
        "R_one": _errors_by_cost(study, "1-norm", "R"),
        "undivided": _spans_over_costs(study, UNDIVIDED),
        "homogeneous": _spans_over_costs(study, QUADRATIC_FORMS[1]),
        "Q": _spans_over_costs(study, QUADRATIC_FORMS[0]),
    }
    mixtures = {"raw": ("raw", BEST_C), "raw1": ("raw", 1.0), "feature": ("per feature", BEST_C)}
    for name, (form, C) in mixtures.items():
        forms = (form, BEST_FORMS[1])
        rows = {c: found_row(study, "1-norm", c, forms, C) for c in (MIXTURE, COMPOSITE)}
        facts |= {f"{name}_{kernel}": rows[MIXTURE][kernel] for kernel in KERNELS}
        facts[f"{name}_share"] = rows[MIXTURE]["test_seconds"] / rows[COMPOSITE]["test_seconds"]
    printed = printed_numbers(study, "table3")
    seconds = [printed["table3", f"1-norm/{choice}", "T_tst"] for choice in (MIXTURE, COMPOSITE)]
    return facts | {"share_printed": seconds[0] / seconds[1]}


def _spans_over_costs(study: Study, quadratic: str) -> str:
    """Ranges over C of Q's training and test errors under the 2-norm."""
    rows = [found_row(study, "2-norm", "Q", ("", quadratic), C) for C in _costs(study)[:-1]]
    train, test = (span([row[name] for row in rows], ".1f") for name in ("train", "test"))
    return f"{train} and {test} %"


def _errors_by_cost(study: Study, norm: str, choice: str, label: str = "Forest") -> str:
    """Training and test errors of a row for each C."""
    parts = []
    for C in study.protocol("search")["search_Cs"][label]:
        row = found_row(study, norm, choice, ("", ""), C, label)
        parts.append(f"{row['train']:.1f} and {row['test']:.1f} at C = {C:g}")
    return ", ".join(parts)


@reading.facts(
    "search_digits", *(f"{form}_{norm}" for form in ("raw", "feature") for norm in ("two", "one")), "R_one"
)
def what_the_forms_give_on_the_digits(study: Study) -> dict[str, str]:
    """L and the mixture on the digits at the smallest C by form and norm, and how the order agrees."""
    facts, printed = (
        {"R_one": _errors_by_cost(study, "1-norm", "R", label="Digits")},
        printed_numbers(study, "table4"),
    )
    C = study.protocol("search")["search_Cs"]["Digits"][0]
    names = zip(("raw", "feature"), LINEAR_FORMS, strict=True)
    for (name, form), (short, norm) in product(names, zip(("two", "one"), NORMS, strict=True)):
        rows = {c: found_row(study, norm, c, (form, BEST_FORMS[1]), C, "Digits") for c in CHOICES}
        theirs = [printed["table4", f"{norm}/{c}", "R_tst"] for c in CHOICES]
        agreement = _rank_correlation([row["test"] for row in rows.values()], theirs)
        L, own = rows["L"], rows[MIXTURE]
        columns = f" with {_columns([own[kernel] for kernel in KERNELS])}" if norm == "1-norm" else ""
        facts[f"{name}_{short}"] = (
            f"L {L['train']:.1f} and {L['test']:.1f} %, the mixture {own['train']:.1f} and "
            f"{own['test']:.1f} %{columns}, rank correlation of the seven test errors with the printed "
            f"{agreement:+.2f}"
        )
    return facts


@reading.facts("plain", *(f"tau_{k}" for k in range(len(PLAIN_TAUS))))
def mixtures_of_plain_products(study: Study) -> dict[str, str]:
    """Columns, errors and gap of the 2-norm mixture with plain inner products, by tolerance on tau."""
    facts = {}
    for k, tau in enumerate(PLAIN_TAUS):
        names = ("train_error", "error", "gap", "rounds", *KERNELS)
        train, error, gap, rounds, *counts = (
            _mean(study.evidence("plain"), name, "Forest", f"tau = {tau:g}") for name in names
        )
        facts[f"tau_{k}"] = (
            f"tolerance {tau:g}: {_columns(counts)} after {rounds:.0f} rounds, training and test error "
            f"{train:.1f} and {error:.1f} %, gap {100 * gap:.0f} %"
        )
    return facts


@reading.facts("kept", "apart", "farthest", "farthest_columns", "mixture")
def columns_of_complete_solutions(study: Study) -> dict[str, float | str]:
    """How far the printed counts of table 2 are from those of complete solutions; RBF columns of mixtures.

    farthest: the single or composite kernel whose count is farthest, with its counts at the table's tolerance
    and at a tenth of it. apart: the largest relative difference in percent of the others.
    """
    evidence, printed, place = (
        study.evidence("kept"),
        printed_numbers(study, "table2"),
        TOLERANCES.index(DROPPED),
    )

    def counts(label: str, model: str) -> np.ndarray:
        return np.mean(evidence.runs("C_l" if model == "linear" else "C_r", label, model), axis=0)[place:]

    apart = {}
    for label, model in product(SMALL_SETS, tuple(SMALL_CHOICES)[:3]):
        theirs = printed["table2", f"{label}/{model}", "C_l" if model == "linear" else "C_r"]
        apart[label, model] = 100.0 * abs(counts(label, model)[0] / theirs - 1.0)
    farthest = max(apart, key=apart.get)
    return {
        "farthest": " of ".join(farthest[::-1]),
        "farthest_columns": _listed(counts(*farthest)[:2]),
        "apart": sorted(apart.values())[-2],
        "mixture": _listed([counts(label, "mixture")[0] for label in SMALL_SETS]),
    }


@reading.facts(
    "batches",
    *(f"k{k}_columns" for k in BATCHES),
    "objective",
    "faster",
)
def what_several_columns_an_iteration_change(study: Study) -> dict[str, float | str]:
    """Columns of runs to as many as printed, and how their objectives differ.

    objective: the largest difference of an objective from that of one column an iteration, in percent.
    faster: how many times as fast the run with three columns an iteration is.
    """
    evidence, facts, found = study.evidence("batches"), {}, {}
    for k in BATCHES:
        names = ("objective", "fit_seconds", *KERNELS)
        *found[k], linear, quadratic, rbf = (
            _mean(evidence, name, "Forest", f"{k} an iteration") for name in names
        )
        facts[f"k{k}_columns"] = _columns([linear, quadratic, rbf])
    first = found[BATCHES[0]]
    differences = [abs(objective / first[0] - 1.0) for objective, _ in found.values()]
    return facts | {"objective": 100.0 * max(differences), "faster": first[1] / found[BATCHES[1]][1]}


@reading.facts(
    "restarts",
    "columns",
    "warm",
    "cold",
    "apart",
    *(f"{kind}_{way}" for kind in ("first", "last") for way in ("cold", "dual_warm", "dual_cold")),
)
def what_restarts_cost(study: Study) -> dict[str, float | str]:
    """Newton steps of restricted problems, warm and cold; seconds over those of the warm primal.

    first, last: at the least and at the most columns. apart: relative difference of primal and dual.
    """
    evidence = study.evidence("restarts")

    def mean(metric: str) -> np.ndarray:
        return np.mean(evidence.runs(metric, "Forest", "primal and dual"), axis=0)

    warm, facts = mean("seconds_warm"), {}
    for way in ("cold", "dual_warm", "dual_cold"):
        ratios = mean(f"seconds_{way}") / warm
        facts |= {f"first_{way}": ratios[0], f"last_{way}": ratios[-1]}
    return facts | {
        "columns": _listed(RESTART_AT),
        "warm": _listed(mean("steps_warm")),
        "cold": _listed(mean("steps_cold")),
        "apart": f"{mean('apart').max():.0e}",
    }


@reading.facts("indefinite", "least", "gap")
def what_an_indefinite_kernel_gives(study: Study) -> dict[str, float | str]:
    """The tanh kernel's least eigenvalues over the largest in size, and its largest gap in percent."""
    methods = [method for method, (_, kernel) in INDEFINITE.items() if kernel == "tanh"]
    evidence = study.evidence("indefinite")
    least, gap = (evidence.array(metric, SMALL_SETS, methods) for metric in ("least", "gap"))
    return {"least": span(least, ".2f"), "gap": 100.0 * float(gap.max())}
