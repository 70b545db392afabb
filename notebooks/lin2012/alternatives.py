"""Trials of what the paper leaves open: trees of depth 2 in place of stumps, codes, colorings, tau_max."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from kernsemble.hypotheses.base import Candidate, Oracle
from kernsemble.trials.trial import Trial
from lin2012.curves import warm_up
from lin2012.draws import draw
from lin2012.fits import Penalties, boost, generate, generate_stagewise
from lin2012.plan import paper


class TreeOracle(Oracle):
    """Grows a tree of depth 2 for each column of V, greedily as scikit-learn does, with weights |V|.

    Of a tree and its negation the better one is taken.
    """

    negation_complete = True

    def __init__(self, X: np.ndarray, depth: int):
        self._X, self._depth = np.asarray(X, dtype=np.float32), depth
        self._trees: list[tuple[DecisionTreeClassifier, int]] = []

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return a tree for each column of V."""
        found = []
        for v in V.reshape(len(V), -1).T:
            tree = DecisionTreeClassifier(max_depth=self._depth, random_state=0)
            tree.fit(self._X, np.where(v > 0, 1, -1), sample_weight=np.abs(v) / np.abs(v).sum())
            column = tree.predict(self._X).astype(np.int8)
            score = float(v @ column)
            sign = 1 if score >= 0 else -1
            self._trees.append((tree, sign))
            found.append(Candidate(len(self._trees) - 1, abs(score), sign * column))
        return found

    def collect(self, keys: Sequence[int]) -> TreeHypotheses:
        """Return the trees with these keys, in this order."""
        return TreeHypotheses([self._trees[key] for key in keys])


class TreeHypotheses:
    """A list of trees with signs."""

    def __init__(self, trees: list[tuple[DecisionTreeClassifier, int]]):
        self._trees = trees

    def __len__(self) -> int:
        return len(self._trees)

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """Return H of shape (n, J), int8."""
        X = np.asarray(X, dtype=np.float32)
        return np.array([sign * tree.predict(X).astype(np.int8) for tree, sign in self._trees]).T


TREE_METHODS = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH", "Ada.MO")


@paper.trials("trees", methods=TREE_METHODS, datasets=("wine", "VOWEL", "PENDIGITS"))
def trees(
    trial: Trial, *, tree_points: list[int], tree_depth: int, penalties: Penalties, coloring: str, code: str
) -> dict[str, object]:
    """The methods of figure 1 over small trees."""
    data, name = draw(trial), trial.method
    oracle = TreeOracle(data.X, tree_depth)
    if name == "CW-1":
        fitted = generate_stagewise(data, tree_points, penalties.stagewise_C, oracle=oracle)
    elif name in ("CW", "MultiBoost"):
        options = {"C": penalties.pair_C, "per_class": name == "CW", "solver": "newton", "tol": 1e-2}
        fitted = generate(data, tree_points, oracle=oracle, **options)
    else:
        option = coloring if name == "Ada.ECC" else code
        fitted = boost(name, data, tree_points, option, trial.rng(), oracle=oracle)
    curve = fitted.errors(data.X_test, data.labels_test)
    return {"error": curve[-1], "curve": curve.round(3)}


READINGS = (
    "CW, tau_max 1", "CW, tau_max 2", "CW, tau_max 10", "CW, exact", "Ada.ECC, random", "Ada.ECC, half",
    "Ada.ECC, maxcut", "Ada.MO, one-against-all", "Ada.MO, random", "Ada.MO, exhaustive",
)  # fmt: skip


@paper.trials("readings", methods=READINGS, datasets=("wine", "VOWEL"))
def readings(trial: Trial, *, reading_points: list[int], pair_C: float, eps: float) -> dict[str, object]:
    """The test error with other readings of what the paper says."""
    data = draw(trial)
    name, _, option = trial.method.partition(", ")
    if name == "CW":
        tau = {} if option == "exact" else {"eps": eps, "tau_max": int(option.split()[1])}
        solver = {"solver": "fcd", "random_state": trial.seed(), **tau} if tau else {"tol": 1e-3}
        fitted = generate(data, reading_points, C=pair_C, **solver)
    else:
        fitted = boost(name, data, reading_points, option, trial.rng())
    curve = fitted.errors(data.X_test, data.labels_test)
    return {"error": curve[-1], "curve": curve.round(3)}


@paper.trials("codes", methods=("one-against-all", "random", "exhaustive"), together=True)
def codes(trial: Trial, *, code_rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of a round of AdaBoost.MO with each code, over a few rounds."""
    data = draw(trial)
    warm_up(str(data.X.dtype))
    rows = {}
    for name in ("one-against-all", "random", "exhaustive"):
        start = process_time()
        fitted = boost("Ada.MO", data, [code_rounds], name, trial.rng("code"))
        seconds = (process_time() - start) / code_rounds
        rows[name] = {"columns": len(fitted.keys) / fitted.rounds, "round_seconds": seconds}
    return rows
