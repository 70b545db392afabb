"""# Reading a model

A machine with the stump kernel, and any ensemble of stumps, is a sum of one function a feature.
`ShapeDisplay` draws them, `shape_functions_` are their tables, and the tables are all that the model is.
"""

# %%
import numpy as np
from sklearn.datasets import load_diabetes

from kernsemble import DistanceKernelSVR, ShapeDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
model = DistanceKernelSVR(C=0.3, epsilon=10.0).fit(X * 20.0, y)
display = ShapeDisplay.from_estimator(model, X * 20.0)

# %%
# A prediction is the sum of what the curves say, and the intercept. Nothing is hidden:
row = (X * 20.0).iloc[[7]]
parts = [np.interp(row.iloc[0, j], f.knots, f.values[:, 0]) for j, f in enumerate(model.shape_functions_)]
for name, part in sorted(zip(X.columns, parts, strict=True), key=lambda pair: -abs(pair[1]))[:3]:
    print(f"{name:5s} {part:8.1f}")
total = sum(parts) + model.intercept_
print(f"sum of all, and the intercept: {total:.6f}; predict: {model.predict(row)[0]:.6f}")
assert np.isclose(total, model.predict(row)[0])

# %%
# The same of a finite ensemble: `CGEns` has as many stumps as rounds, and its curves are steps.
from sklearn.datasets import load_breast_cancer

from kernsemble import CGEns

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
ensemble = CGEns(n_rounds=60, tol=None).fit(X, y)
steps = ShapeDisplay.from_estimator(ensemble, X, features=[20, 21, 24])
