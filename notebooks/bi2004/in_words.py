"""What the exhibits say, in sentences made of their numbers."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from kernsemble.report.comparisons import mean_and_spread
from kernsemble.report.tables import Table
from kernsemble.report.words import best_and_rest, joined, per_set, said
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from bi2004.cells import LABELS, iterations
from bi2004.charts import SETS, printed_numbers
from bi2004.claims import NORMS
from bi2004.claims_behavior import MIXTURE
from bi2004.trials import ALL_FOREST, CHOICES, KERNELS, SIZE_SETS


def say_levels(study: Study) -> Table:
    """Say, for the first and the last place, how many RBF columns and terms there are, and the errors."""
    excesses = study.protocol("levels")["excesses"]
    places = ((0, f"{100 * excesses[0]:g} % above the end"), (len(excesses) - 1, "at the end"))

    def say(evidence: Evidence, label: str) -> str:
        read = {
            (metric, method): np.mean(evidence.runs(metric, label, method), axis=0)
            for metric in ("rbf", "columns", "error")
            for method in ("mixture", "composite")
        }
        parts = []
        for k, where in places:
            (rbf, rbf_other), (columns, columns_other), (error, error_other) = (
                [read[metric, method][k] for method in ("mixture", "composite")]
                for metric in ("rbf", "columns", "error")
            )
            parts.append(
                f"{where} {rbf:.0f} RBF columns in the mixture and {rbf_other:.0f} in the composite, terms "
                f"{columns:.0f} and {2 * columns_other:.0f}, error {error:.3g} and {error_other:.3g}"
            )
        return "; ".join(parts)

    return per_set(study, "levels", say)


def say_blocks(study: Study) -> Table:
    """Say which kernels err least in each block of tables 3 and 4, and how far the order is the print's."""
    printed = printed_numbers(study, tuple(SETS.values()))

    def say(label: str, norm: str) -> str:
        exhibit, methods = SETS[label], tuple(f"{norm}/{name}" for name in CHOICES)
        errors = study.evidence(exhibit).array("error_end", (label,), methods)[:, 0]
        theirs = np.array([printed[exhibit, method, "R_tst"] for method in methods])
        ranks = rankdata(errors.mean(axis=0)), rankdata(theirs)
        mixture = f"L,Q,R is number {ranks[0][-1]:g} of 7 ({errors.mean(axis=0)[-1]:.2f} %)"
        agreement = np.corrcoef(*ranks)[0, 1]
        return (
            f"{best_and_rest(list(CHOICES), errors, '%')}; {mixture}; rank correlation with the printed "
            f"errors {agreement:+.2f}"
        )

    blocks = [(label, norm) for label in LABELS.values() for norm in NORMS]
    return said(
        study,
        "blocks",
        [(f"{label}, {norm}", lambda place=(label, norm): say(*place)) for label, norm in blocks],
    )


def say_stops(study: Study) -> Table:
    """Say where each rule stops the 2-norm mixture of tables 3 and 4: columns by kernel, error, seconds."""

    def say(label: str) -> str:
        evidence = study.evidence(SETS[label])
        parts = []
        for stop in ("TR1", "TR3", "end"):
            names = (*KERNELS, "error", "fit_seconds")
            *columns, error, seconds = (
                float(evidence.array(f"{name}_{stop}", (label,), (MIXTURE,)).mean()) for name in names
            )
            counts = ", ".join(f"{count:.0f}" for count in columns)
            parts.append(f"{stop}: {counts} linear, quadratic, RBF columns, {error:.2f} %, {seconds:.1f} s")
        optimum = evidence.array("optimum_error", (label,), (MIXTURE,)).mean()
        return f"{'; '.join(parts)}; complete solution {optimum:.2f} %"

    return said(study, "stops", [(label, lambda label=label: say(label)) for label in SETS])


def say_tolerance(study: Study) -> Table:
    """Say how many quadratic and RBF columns each tolerance gives, and what the errors are."""

    def say(evidence: Evidence, label: str) -> str:
        parts = []
        for method in evidence.methods:
            quadratic, rbf, error = (
                float(evidence.array(f"{name}_end", (label,), (method,)).mean())
                for name in ("quadratic", "rbf", "error")
            )
            parts.append(f"{method}: {quadratic:.0f} quadratic and {rbf:.0f} RBF columns, {error:.2f} %")
        return "; ".join(parts)

    return per_set(study, "tolerance", say)


def say_growth(study: Study) -> Table:
    """Say how the iterations of table 5 grow for every reading and patience, beside the print."""
    evidence, patiences = study.evidence("table5"), study.protocol("table5")["patiences"]
    printed = printed_numbers(study, ("table5",))
    theirs = [printed["table5", "Iter", label.removeprefix("n=")] for label in SIZE_SETS]

    def grown(method: str, patience: int | None) -> str:
        for label in SIZE_SETS:
            evidence.require(label, method)
        means = [float(iterations(study, label, method, patience).mean()) for label in SIZE_SETS]
        counts = ", ".join(f"{mean:.0f}" for mean in means)
        return f"{counts} iterations, {means[-1] / means[0]:.2f} times as many for ten times the data"

    def expensive() -> str:
        counts = [float(evidence.array(name, SIZE_SETS, ("C fixed",)).mean()) for name in KERNELS]
        return "{:.0f} linear, {:.1f} quadratic, {:.1f} RBF columns on average".format(*counts)

    rows = [(f"C fixed, patience {p}", lambda p=p: grown("C fixed", p)) for p in patiences]
    rows += [(m, lambda m=m: grown(m, None)) for m in evidence.methods if m != "C fixed"]
    counts = ", ".join(f"{value:.0f}" for value in theirs)
    times = f"{counts} iterations, {theirs[-1] / theirs[0]:.2f} times as many"
    return said(study, "growth", [("printed", lambda: times), *rows, ("the model at TR3", expensive)])


def say_coarse(study: Study) -> Table:
    """Say when runs with a coarse tolerance end, by size, with what columns, and how much later."""
    evidence, patiences = study.evidence("coarse"), study.protocol("coarse")["patiences"]

    def ended(method: str, label: str) -> str:
        at_tr1, at_tr2, error, *columns = (
            float(evidence.array(name, (label,), (method,)).mean())
            for name in ("first_full_scan", "rounds", "error", *KERNELS)
        )
        stops = np.mean(evidence.runs("iterations", label, method), axis=0)
        tr3 = ", ".join(f"{p}: {stop:.0f}" for p, stop in zip(patiences, stops, strict=True))
        counts = ", ".join(f"{count:.0f}" for count in columns)
        return (
            f"TR1 after {at_tr1:.0f} iterations, TR2 after {at_tr2:.0f}, TR3 by patience {tr3}; at the end "
            f"{counts} linear, quadratic, RBF columns, {error:.2f} %"
        )

    def grown(method: str) -> str:
        counts = evidence.array("rounds", SIZE_SETS, (method,))[:, :, 0].mean(axis=0)
        return f"{counts[-1] / counts[0]:.2f} times as many iterations to TR2 for ten times the data"

    rows = []
    for method in evidence.methods:
        rows += [(f"{method}, {label}", lambda m=method, d=label: ended(m, d)) for label in SIZE_SETS]
        rows.append((method, lambda m=method: grown(m)))
    return said(study, "coarse", rows)


def say_readings(study: Study) -> Table:
    """Say for each set in which readings the mixture errs least of the seven, and how far its error moves."""

    def say(evidence: Evidence, label: str) -> str:
        methods = [
            m for m in evidence.methods if evidence.sample("log10_C", dataset=label, method=m).expected
        ]
        first, errors = [], {}
        for method in methods:
            means = [float(evidence.array(f"error_{c}", (label,), (method,)).mean()) for c in CHOICES]
            errors[method] = means[-1]
            if means[-1] < min(means[:-1]):
                first.append(method)
        low, high = min(errors, key=errors.get), max(errors, key=errors.get)
        return (
            f"L,Q,R has the least mean of the seven in {len(first)} of {len(methods)} readings"
            f"{f' ({joined(first)})' if first else ''}; its error goes from {errors[low]:.2f} % ({low}) to "
            f"{errors[high]:.2f} % ({high})"
        )

    return per_set(study, "readings", say)


def say_widths(study: Study) -> Table:
    """Say which library of widths errs least, and what it costs in columns."""

    def say(evidence: Evidence, label: str) -> str:
        errors, columns = (evidence.array(metric, (label,))[:, 0] for metric in ("error", "columns"))
        counts = ", ".join(
            f"{m} {c:.0f}" for m, c in zip(evidence.methods, columns.mean(axis=0), strict=True)
        )
        return f"{best_and_rest(evidence.methods, errors, '%')}; columns: {counts}"

    return per_set(study, "widths", say)


def say_modern(study: Study) -> Table:
    """Say who errs least, and who does at the 1-norm mixture's cost of a prediction."""

    def say(evidence: Evidence, label: str) -> str:
        errors, cost = (evidence.array(metric, (label,))[:, 0] for metric in ("error", "operations"))
        place = list(evidence.methods).index
        gain = errors[:, place("boosting, equal cost")] - errors[:, place("1-norm mixture")]
        costs = ", ".join(f"{m} {c:.0f}" for m, c in zip(evidence.methods, cost.mean(axis=0), strict=True))
        spread = float(gain.std(ddof=1) / len(gain) ** 0.5) if len(gain) > 1 else 0.0
        difference = mean_and_spread(abs(float(gain.mean())), spread)
        more_or_less = "less" if gain.mean() < 0.0 else "more"
        return (
            f"{best_and_rest(evidence.methods, errors, '%')}; boosting at the cost of the 1-norm mixture "
            f"errs {difference} points {more_or_less}; operations: {costs}"
        )

    return per_set(study, "modern", say)


def say_forest(study: Study) -> Table:
    """Say what the fit of all rows found, and what it took."""
    evidence = study.evidence("forest")

    def say(method: str) -> str:
        read = {
            name: float(evidence.array(name, (ALL_FOREST,), (method,)).mean())
            for name in (*KERNELS, "error", "n_train", "rounds", "fit_seconds", "megabytes")
        }
        counts = ", ".join(f"{read[name]:.0f}" for name in KERNELS)
        return (
            f"{read['n_train']:,.0f} rows: {read['error']:.2f} % test error after {read['rounds']:.0f} "
            f"rounds ({counts} linear, quadratic, RBF columns), {read['fit_seconds'] / 60:.0f} minutes, "
            f"{read['megabytes'] / 1024:.1f} GiB at most"
        )

    def beside() -> str:
        sample = study.evidence("table3").array("error_end", ("Forest",), (MIXTURE,))
        return f"{sample.mean():.2f} % test error, the 2-norm mixture of table 3"

    rows = [(method, lambda method=method: say(method)) for method in evidence.methods]
    return said(study, "forest", [*rows, ("1000 rows", beside)])
