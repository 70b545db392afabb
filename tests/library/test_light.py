"""An installation of numpy, scipy, scikit-learn, numba, highspy and threadpoolctl alone fits everything."""

import json
import os
import subprocess
import sys
from pathlib import Path

from support.pages import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
BLOCK = """
import sys
extras = ("pandas", "yaml", "tqdm", "dateutil", "matplotlib", "dask", "distributed", "cvxpy", "onnx", "PIL")
class AsIfNotInstalled:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in extras:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, AsIfNotInstalled())
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


def test_first_example_of_the_guide_runs(tmp_path):
    done = run(next(block.code for block in blocks(GUIDE) if block.language == "python"), tmp_path)
    assert done.returncode == 0, done.stderr
    accuracies, gap = done.stdout.splitlines()
    assert min(json.loads(accuracies)) > 0.94
    assert 0.0 < float(gap) < 1.0


def test_drawings_name_the_extra_that_draws(tmp_path):
    code = (
        "from kernsemble import ShapeDisplay as S\nS([0], names=[], outputs=[], deciles=[], ranges=[]).plot()"
    )
    assert "pip install 'kernsemble[show]'" in run(code, tmp_path).stderr.splitlines()[-1]


def test_datasets_name_the_extra_that_reads_their_register(tmp_path):
    done = run("kernsemble.load('iris')", tmp_path)
    assert done.returncode == 1
    assert "pip install 'kernsemble[data]'" in done.stderr.splitlines()[-1]
