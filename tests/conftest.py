"""Settings that every test shares: one thread for BLAS and OpenMP, so that last digits repeat."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (the thread counts must stand before NumPy is loaded)
import pytest  # noqa: E402


@pytest.fixture(params=[0, 1, 2])
def rng(request):
    """Three seeds: properties must hold for each."""
    return np.random.default_rng(request.param)
