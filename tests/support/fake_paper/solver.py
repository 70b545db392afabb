"""The fake paper's numerical module."""

import numpy as np


def biased_mean(values, bias):
    """The mean, plus a bias."""
    return float(np.mean(values) + bias)
