"""# A model without this package

A machine with the stump kernel, and any ensemble of stumps, is a table a feature. As JSON it is read by
anything, and predicts with NumPy alone; as ONNX it runs where no Python is.
"""

# %%
import pickle

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernsemble import AdaBoost, DistanceKernelSVC
from kernsemble.export import from_json, to_json, to_onnx

rng = np.random.default_rng(0)
X = rng.normal(10.0, 3.0, size=(5000, 20))
y = np.where(np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.3 * rng.normal(size=5000) > 1.0, "ripe", "green")
machine = make_pipeline(StandardScaler(), DistanceKernelSVC(C=0.01)).fit(X, y)
boosted = AdaBoost(200).fit(X, y)

# %%
# `tolerance` leaves knots out as long as no decision changes by more; margins are at 1. The scaler becomes
# part of the tables, which are then in the units of the data.
print(f"{'bytes':32s}{'pickle':>9s}{'JSON':>9s}{'ONNX':>9s}")
for model, tolerance in ((machine, 0.0), (machine, 0.1), (boosted, 0.0)):
    sizes = [
        len(pickle.dumps(model)),
        len(to_json(model, tolerance=tolerance)),
        to_onnx(model, tolerance=tolerance).ByteSize(),
    ]
    name = f"{'machine' if model is machine else 'boosted'}, tolerance {tolerance}"
    print(f"{name:32s}" + "".join(f"{size:9d}" for size in sizes))

# %%
# The text, and what reads it, need NumPy and nothing else.
text = to_json(machine, tolerance=0.1)
read = from_json(text)
print(text[:150])
agree = np.mean(read.predict(X) == machine.predict(X))
print(f"{100 * agree:.2f} % of the labels are those of the model")
assert np.abs(read.decision_function(X) - machine.decision_function(X)).max() <= 0.1

# %%
# ONNX takes float32, or float64 if asked: then scores are equal to the last digits. Any runtime runs the
# graph, which is of opset 13; here it is ONNX's own reference.
from onnx.reference import ReferenceEvaluator

graph = to_onnx(machine, dtype=np.float64)
scores, labels = ReferenceEvaluator(graph).run(None, {"X": X})
apart = np.abs(scores - machine.decision_function(X)).max()
print(f"{len(graph.graph.node)} nodes; scores differ by {apart:.0e} at most")
assert (labels == machine.predict(X)).all()
