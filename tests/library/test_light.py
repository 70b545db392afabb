"""An installation of numpy, scipy, scikit-learn, numba, highspy and threadpoolctl alone fits everything."""

import os
import subprocess
import sys

BLOCK = """
import sys
extras = ("pandas", "yaml", "tqdm", "dateutil", "matplotlib", "dask", "distributed", "cvxpy", "onnx", "PIL")
for name in extras:
    sys.modules[name] = None  # as if it were not installed
import numpy as np
import kernsemble
"""


def run(code, tmp_path):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, "-c", BLOCK + code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )


def test_every_estimator_imports_and_fits(tmp_path):
    done = run(
        """
from sklearn.base import is_regressor
X = np.random.default_rng(0).normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int)
for name in [*kernsemble._ESTIMATORS, "StreamedCGEns"]:
    model = getattr(kernsemble, name)()
    if "n_rounds" in model.get_params():
        model.set_params(n_rounds=3)
    model.fit(X, X[:, 0] if is_regressor(model) else y).predict(X)
    print(name)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 17


def test_datasets_name_the_extra_that_reads_their_register(tmp_path):
    done = run("kernsemble.load('iris')", tmp_path)
    assert done.returncode == 1
    assert "pip install 'kernsemble[data]'" in done.stderr.splitlines()[-1]
