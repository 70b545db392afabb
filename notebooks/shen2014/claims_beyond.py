"""Checks of shen2014's claims about its mathematics, and of those that the paper does not measure."""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability, significant
from kernsemble.report.ledger import Finding
from kernsemble.trials.study import Study
from shen2014.cells import reading


@reading.claim("S7")
def incremental_inverse_is_exact(study: Study) -> Finding:
    """Largest relative difference of W, b and U from solving (11) outright, on all sets: below 1e-6."""
    evidence = study.evidence("inverse")
    printed = evidence.array("difference", methods=("update (20)",)).max()
    ours = evidence.array("difference", methods=("Cholesky",)).max()
    same = evidence.array("same").min()
    agree = f"same stumps in {100 * same:.0f} % of rounds"
    note = f"update (20): {printed:.1e}; J x J equations: {ours:.1e}; {agree}"
    return Finding(bool(printed < 1e-6), None, note)


@reading.claim("S8")
def claims_of_section_four_hold(study: Study) -> Finding:
    """Claim 4.1 as worded: the chosen column is always the one whose addition lowers the objective most.

    (Its proof shows less: the gap is half the sum of squared scores, and the chosen one is its largest term.
    The note says whether that holds, to 1e-6 of the objective.) Claim 4.2: the two searches agree exactly.
    """
    evidence = study.evidence("theorems").require()
    identity = evidence.array("identity").max()
    negation = evidence.array("negation").max()
    ranks = np.concatenate(
        [evidence.curves("rank", dataset=d, method="claim 4.1").ravel() for d in evidence.datasets]
    )
    note = (
        f"the largest term lowers the objective most in {100 * (ranks == 1).mean():.0f} % of "
        f"{len(ranks)} rounds (median rank {np.median(ranks):.0f}, worst {ranks.max():.0f}); gap = half the "
        f"sum of squares to {identity:.0e}; claim 4.2 to {negation:.0e}"
    )
    return Finding(bool((ranks == 1).all() and negation == 0 and identity < 1e-6), None, note)


@reading.claim("S9")
def multiple_kernel_learning_is_easy(study: Study) -> Finding:
    """All widths in one pool, without a search for the width, cost no more than half a point on average over
    the sets, for at most a third of the optimization problems.
    """
    evidence = study.evidence("multiple_kernels").require()
    methods = ("all widths at once", "width by cross-validation")
    errors, problems = (evidence.array(metric, methods=methods) for metric in ("error", "problems"))
    ratio = problems[..., 1].mean() / problems[..., 0].mean()

    def cheap(e: np.ndarray) -> bool:
        return bool((e[..., 0] - e[..., 1]).mean() <= 0.5 and ratio >= 3)

    means = errors.mean(axis=(0, 1))
    note = f"{methods[0]}: {means[0]:.2f}, {methods[1]}: {means[1]:.2f}; {ratio:.0f} times fewer problems"
    return Finding(cheap(errors), bootstrap_probability(errors, cheap), note)


@reading.claim("S10")
def ensembles_evaluate_faster(study: Study) -> Finding:
    """500 stumps are evaluated faster than the stump machine, 500 cosines faster than the Gaussian one, on
    every set (medians over runs).
    """
    seconds = (
        study.evidence("prediction")
        .require()
        .array(
            "eval_seconds",
            methods=("stump machine", "CGENS, 500 stumps", "Gaussian machine", "CGENS, 500 cosines"),
        )
    )
    middle = np.median(seconds, axis=0)
    ratios = middle[:, [0, 2]] / middle[:, [1, 3]]
    ranges = [f"{significant(some.min(), 2)} to {significant(some.max(), 2)}" for some in ratios.T]
    note = f"stump machine / 500 stumps: {ranges[0]}; Gaussian machine / 500 cosines: {ranges[1]}"
    return Finding(bool((ratios > 1).all()), None, note)
