"""# Imbalance

Three positives in a hundred: what the majority predicts is right 97 times. Weights that give both classes
the same total move the decision to where both are found.
"""

# %%
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from kernsemble import AdaBoost, CGEns, DistanceKernelSVC

X, y = make_classification(
    4000,
    12,
    n_informative=6,
    n_redundant=0,
    n_clusters_per_class=3,
    weights=[0.97],
    flip_y=0.02,
    random_state=0,
)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
for model in (AdaBoost(100), CGEns(C=0.02, n_rounds=150, tol=None), DistanceKernelSVC(C=0.1)):
    found = [
        balanced_accuracy_score(y_test, model.set_params(class_weight=weight).fit(X, y).predict(X_test))
        for weight in (None, "balanced")
    ]
    print(
        f"{type(model).__name__:18s} balanced accuracy {found[0]:.2f}, with balanced weights {found[1]:.2f}"
    )
    assert found[1] > found[0]
