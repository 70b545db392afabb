"""# Several classes

There are four ways: one ensemble whose stumps all classes share (`CGEnsSLS`, `AdaBoostMH`), stumps of their
own for each class (`MultiBoost(per_class=True)`), one machine for each pair of classes
(`DistanceKernelSVC`), and one problem for each class against the rest (`CGEns`, `LPBoost`,
`CGBoostClassifier`).
"""

# %%
from time import process_time

from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split

from kernsemble import AdaBoostMH, CGEnsSLS, DistanceKernelSVC, MultiBoost

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X.astype("uint8"), y, random_state=0)  # pixels stay bytes
scores = {}
for model in (
    DistanceKernelSVC(kernel="perceptron"),
    CGEnsSLS(n_rounds=200, tol=None),
    MultiBoost(n_rounds=100, tol=None),
    AdaBoostMH(200),
    AdaBoostClassifier(n_estimators=200),
):
    start = process_time()
    model.fit(X, y)
    name = type(model).__name__
    scores[name] = model.score(X_test, y_test)
    print(f"{name:20s} accuracy {scores[name]:.3f}  {process_time() - start:6.2f} s")
assert scores["DistanceKernelSVC"] > scores["AdaBoostMH"] > scores["AdaBoostClassifier"]

# %%
# `CGEns`, `LPBoost` and `CGBoostClassifier` solve a problem a class, each against the rest, over stumps, or
# columns, that all classes share: one list to evaluate, and one certificate for the sum of the problems.
from sklearn.multiclass import OneVsRestClassifier

from kernsemble import CGEns

shared = CGEns(C=0.02, n_rounds=200, tol=None).fit(X, y)
print(f"CGEns, shared: {shared.score(X_test, y_test):.3f} from {len(shared.hypotheses_)} stumps, ", end="")
print(f"relative gap {shared.relative_gap_:.2f}")
alone = OneVsRestClassifier(CGEns(C=0.02, n_rounds=60, tol=None)).fit(X, y)
number = sum(len(machine.hypotheses_) for machine in alone.estimators_)
print(f"CGEns, a class at a time: {alone.score(X_test, y_test):.3f} from {number} stumps")
