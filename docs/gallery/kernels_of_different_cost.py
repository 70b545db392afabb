"""# Many kernels of different cost

`CGBoostClassifier` mixes columns of several kernels, the cheap ones first: a linear column costs a product
to evaluate, a Gaussian one an exponential for every center. A problem that is nearly linear gets linear
columns and a few Gaussian ones where they pay.
"""

# %%
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernsemble import CGBoostClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 10))
y = X[:, :8].sum(axis=1) + 3.0 * X[:, 8] * X[:, 9] + 0.5 * rng.normal(size=800) > 0.0  # nearly linear
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
for kernels in (["linear"], ["rbf"], ["linear", "quadratic", "rbf"]):
    model = make_pipeline(StandardScaler(), CGBoostClassifier(kernels, C=0.1, n_rounds=80, tol=None)).fit(
        X, y
    )
    boosted = model[-1]
    accuracy = model.score(X_test, y_test)
    print(f"{'+'.join(kernels):22s} test accuracy {accuracy:.3f}, columns {boosted.n_columns_}")

# %%
# How the mixture grew, round by round:
from matplotlib import pyplot as plt

for name, counts in boosted.columns_path().items():
    plt.plot(np.arange(1, boosted.n_rounds_ + 1), counts, label=name)
plt.xlabel("rounds")
plt.ylabel("columns with a weight")
plt.legend()
