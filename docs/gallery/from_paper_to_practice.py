"""# From paper to practice

Shen and Liu show that an ensemble found by column generation solves the support vector machine's own
problem. Here it runs into that machine, and the question a user has is answered on the way: how many stumps
are enough?
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import KBinsDiscretizer

from kernsemble import CGEns, DistanceKernelSVC

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
bins = KBinsDiscretizer(16, encode="ordinal", quantile_method="averaged_inverted_cdf").fit(X)
X, X_test = bins.transform(X), bins.transform(X_test)
C = 0.005

# Two samples lie on the same side of all stumps but those between them: summed over all stumps, h(x) h(x') is
# a constant less twice the distance of their bins. A kernel times 2 is C times 2.
machine = DistanceKernelSVC(C=2.0 * C, tol=1e-6).fit(X, y)
ensemble = CGEns(C=C, n_rounds=1000, tol=1e-6).fit(X, y)
curve = [np.mean(labels != y_test) for labels in ensemble.staged_predict(X_test)]
apart = np.mean(ensemble.predict(X_test) != machine.predict(X_test))
print(
    f"machine: error {100 * (1 - machine.score(X_test, y_test)):.1f} %, objective {machine.objective_[0]:.6f}"
)
objective = ensemble.objective_path_[-1]
print(f"{ensemble.n_rounds_} stumps: error {100 * curve[-1]:.1f} %, objective {objective:.6f}")
print(f"other decisions on {100 * apart:.1f} % of new samples")

# %%
plt.plot(np.arange(1, ensemble.n_rounds_ + 1), 100 * np.array(curve))
plt.xscale("log")
plt.xlabel("stumps")
plt.ylabel("test error, %")

# %%
# What the papers print, and what came out when it was computed again: [the ledger](../_ledger/index.md).
assert apart == 0.0
