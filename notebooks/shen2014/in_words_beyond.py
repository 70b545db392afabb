"""What the exhibits say that the paper does not have, in sentences made of their numbers."""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import significant
from kernsemble.report.tables import Table
from kernsemble.report.words import best_and_rest, in_order, joined, per_set, said
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from shen2014.in_words import COMPARABLE, HALVES
from shen2014.on_print import printed_errors
from shen2014.trials import ENSEMBLES, MACHINES

POOLED = ("AdaBoost", "LPBoost", "CGENS")


def say_draws(study: Study) -> Table:
    """Say which printed means lie outside the mean of our twenty splits by more than their deviation."""
    evidence = study.evidence("draws")
    rows = [row for row in COMPARABLE if row in evidence.datasets]

    def say(exhibit: str, column: str, method: str) -> str:
        printed = printed_errors(study, exhibit, rows, [column])[:, 0]
        errors = np.array([evidence.runs("errors", row, method)[0] for row in rows])
        means, spreads = errors.mean(axis=1), errors.std(axis=1, ddof=1)
        outside = [
            f"{row} (printed {theirs:.2f}, ours {mean:.2f} ± {spread:.2f})"
            for row, theirs, mean, spread in zip(rows, printed, means, spreads, strict=True)
            if abs(theirs - mean) > spread
        ]
        within = f"{len(rows) - len(outside)} of {len(rows)} printed means are within a deviation"
        return f"{within}; not {joined(outside)}" if outside else within

    sentences = []
    for exhibit, halves in HALVES.items():
        for half, columns in halves.items():
            for column in columns:
                method = f"stump:{column}" if half == "stumps" else column
                place = (exhibit, column, method)
                if rows and method in evidence.methods:
                    sentences.append((method, lambda place=place: say(*place)))
    return said(study, "draws", sentences)


def say_pools(study: Study) -> Table:
    """Say whether CGENS is ahead by its master or by its pool, and which pool is nearest to the print."""
    evidence = study.evidence("pools")
    labels, kinds = evidence.datasets, _kinds(evidence.methods)

    def means(family: str) -> np.ndarray:  # sets x methods, after the last round
        curves = [[np.array(evidence.runs(m, d, family))[:, -1] for m in POOLED] for d in labels]
        return np.array(curves).mean(axis=2)

    def by_family(family: str) -> str:
        errors = means(family)
        first = int((errors.argmin(axis=1) == POOLED.index("CGENS")).sum())
        return f"{in_order(POOLED, errors.mean(axis=0))}; CGENS errs least on {first} of {len(labels)} sets"

    def by_master(kind: str) -> str:
        average = np.array([means(family).mean(axis=0) for family in kinds[kind]])
        less = ", ".join(f"{(average[:, k] - average[:, 2]).mean():+.2f} for {POOLED[k]}" for k in (0, 1))
        moved = ", ".join(
            f"{name} {width:.2f}" for name, width in zip(POOLED, np.ptp(average, axis=0), strict=True)
        )
        return (
            f"with the same choice, points above CGENS: {less}; with the same method, points from the best "
            f"to the worst choice: {moved}"
        )

    def beside_print(kind: str, k: int) -> str:
        place = ("table1", POOLED[k]) if kind == "stumps" else ("table2", f"perceptron:{POOLED[k]}")
        printed = printed_errors(study, place[0], labels, [place[1]])[:, 0]
        off = [float(np.abs(means(family)[:, k] - printed).mean()) for family in kinds[kind]]
        return f"nearest first, points from the print on average: {in_order(kinds[kind], off)}"

    sentences = [(family, lambda f=family: by_family(f)) for family in evidence.methods]
    sentences += [(f"master or choice, {kind}", lambda kind=kind: by_master(kind)) for kind in kinds]
    sentences += [
        (f"{POOLED[k]}, {kind}", lambda kind=kind, k=k: beside_print(kind, k))
        for kind in kinds
        for k in range(3)
    ]
    return said(study, "pools", sentences if labels else [])


def _kinds(families: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the families of stumps and of perceptrons, as far as there is a choice."""
    kinds = {
        "stumps": [family for family in families if family.startswith("stump")],
        "perceptrons": [family for family in families if family.startswith("perceptrons")],
    }
    return {kind: names for kind, names in kinds.items() if len(names) > 1}


def say_kernels(study: Study) -> Table:
    """Say which mixture of kernels errs least on each set, and what its search costs."""
    evidence = study.evidence("multiple_kernels")
    methods, labels = evidence.methods, evidence.datasets

    def say(label: str) -> str:
        errors, seconds, kernels = (
            evidence.array(metric, [label])[:, 0] for metric in ("error", "search_seconds", "kernels")
        )
        counts = ", ".join(f"{count:.0f}" for count in kernels.mean(axis=0))
        return (
            f"{best_and_rest(methods, errors, '%')}; seconds: "
            f"{in_order(methods, seconds.mean(axis=0), '.1f')}; kernels with a weight, in the order of the "
            f"columns: {counts}"
        )

    def overall() -> str:
        errors, seconds, problems = (
            np.array([evidence.array(metric, [d])[:, 0].mean(axis=0) for d in labels])
            for metric in ("error", "search_seconds", "problems")
        )
        parts = []
        for k, method in enumerate(methods[1:], start=1):
            more = (errors[:, k] - errors[:, 0]).mean()
            time = np.exp(np.log(seconds[:, k] / seconds[:, 0]).mean())  # geometric: sets differ in size
            parts.append(
                f"{method}: {more:+.2f} points, {time:.2f} times the seconds, "
                f"{problems[:, k].mean() / problems[:, 0].mean():.2f} times the optimization problems"
            )
        return f"against {methods[0]}, {'; '.join(parts)}"

    sentences = [(label, lambda label=label: say(label)) for label in labels]
    if len(labels) > 1 and len(methods) > 1:
        sentences.append((f"{len(labels)} sets", overall))
    return said(study, "multiple_kernels", sentences)


def say_prediction(study: Study) -> Table:
    """Say from which size on an ensemble errs as little as the machine, and how many times faster it is."""
    sizes = study.protocol("prediction")["sizes"]

    def compared(evidence: Evidence, label: str, machine: str, ensemble: str) -> str:
        error = float(evidence.array("error", [label], [machine]).mean())
        seconds = float(np.median(evidence.array("eval_seconds", [label], [machine])))
        errors = np.mean(evidence.runs("curve", label, ensemble), axis=0)
        times = seconds / np.median(evidence.runs("seconds_curve", label, ensemble), axis=0)
        reached = np.flatnonzero(errors <= error)
        noun = ensemble.split()[-1]
        equal = (
            f"at most its error from {sizes[reached[0]]} {noun} on, "
            f"{significant(times[reached[0]], 2)} times as fast"
            if len(reached)
            else f"its error is not reached, {errors.min() - error:.2f} points are missing"
        )
        return (
            f"{machine}, {error:.2f} %: {equal}; {sizes[-1]} {noun} "
            f"{significant(times[-1], 2)} times as fast at "
            f"{errors[-1]:.2f} %"
        )

    def say(evidence: Evidence, label: str) -> str:
        pairs = zip(MACHINES, ENSEMBLES, strict=True)
        return "; ".join(compared(evidence, label, *pair) for pair in pairs)

    return per_set(study, "prediction", say)
