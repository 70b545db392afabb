"""# Groups of features, and kernel matrices

A library of `CGBoostClassifier` may hold a kernel for each group of features, or kernels that are given as
matrices: of graphs, sequences, or whatever has a similarity and no vector. `kernel_weights_` says what each
adds. Two classes or several.
"""

# %%
# Chemistry, color and strength of wines of three growers, each seen by a kernel of its own:
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler

from kernsemble import CGBoostClassifier
from kernsemble.hypotheses.kernel_library import FeatureKernel, GramKernel

X, y = load_wine(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
groups = {
    "acids": ["malic_acid", "ash", "alcalinity_of_ash", "magnesium"],
    "phenols": ["total_phenols", "flavanoids", "nonflavanoid_phenols", "proanthocyanins"],
    "color": ["color_intensity", "hue"],
    "strength": ["alcohol", "proline"],
}
views = [FeatureKernel(names, called=called) for called, names in groups.items()]
model = CGBoostClassifier(views, C=0.1, tol=None).fit(X, y)
for name, share in model.kernel_weights_.items():
    print(f"{name:10s} {share:.2f} of the scores, {model.n_columns_[name]} columns")

# %%
# What is one group worth by itself, and without it?
print(f"all         {cross_val_score(model, X, y).mean():.3f}")
for view in views:
    alone = CGBoostClassifier([view], C=0.1, tol=None)
    others = CGBoostClassifier([other for other in views if other is not view], C=0.1, tol=None)
    scores = (cross_val_score(machine, X, y).mean() for machine in (alone, others))
    print(f"{view.called:10s}  alone {next(scores):.3f}, all but it {next(scores):.3f}")

# %%
# The same from matrices alone. X is then which samples: folds and searches pick numbers, and all of them
# share the matrices, which are never copied. Samples to predict for are rows and columns of the matrix, too.
import numpy as np

rows = np.arange(len(X))[:, np.newaxis]
matrices = []
for called, names in groups.items():
    view = X[names].to_numpy()
    distances = ((view[:, np.newaxis] - view) ** 2).sum(axis=2)
    matrices.append(GramKernel(np.exp(-distances / distances.mean()), called))
search = GridSearchCV(CGBoostClassifier(matrices, tol=None), {"C": [0.01, 0.1, 1.0]}, cv=5).fit(rows, y)
print(f"C = {search.best_params_['C']}: {search.best_score_:.3f}")
assert search.best_score_ > 0.95
