"""# Several classes

There are three ways: one ensemble whose stumps all classes share (`CGEnsSLS`, `AdaBoostMH`), stumps of their
own for each class (`MultiBoost(per_class=True)`), and one machine for each pair of classes
(`DistanceKernelSVC`).
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
# For two-class methods there is scikit-learn's `OneVsRestClassifier`.
from sklearn.multiclass import OneVsRestClassifier

from kernsemble import CGEns

rest = OneVsRestClassifier(CGEns(C=0.02, n_rounds=60, tol=None)).fit(X, y)
print(f"CGEns, one class against the rest: {rest.score(X_test, y_test):.3f}")
