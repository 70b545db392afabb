import pickle

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernsemble import DistanceKernelSVC, DistanceKernelSVCCV


@parametrize_with_checks(
    [
        DistanceKernelSVC(tol=1e-9),
        DistanceKernelSVC("gaussian", tol=1e-9),
        DistanceKernelSVCCV("perceptron", Cs=[0.1, 1.0, 10.0], cv=2, random_state=0),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
