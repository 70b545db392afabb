"""Labels of the datasets of bi2004, and of the kernel choices of its tables."""

from __future__ import annotations

SMALL_SETS = ("Breast", "Ionosphere", "Pima")
LARGE_SETS = ("Digits", "Forest")
STORED = {
    "Breast": "wdbc",
    "Ionosphere": "ionosphere",
    "Pima": "pima",
    "Digits": "mnist",
    "Forest": "covertype",
}
TARGET = "linear+RBF target"
WIDTHS_TARGET = "two-width target"
SIZE_SETS = ("n=1000", "n=2000", "n=5000", "n=10000")
ALL_FOREST = "Forest, all rows"

# Kernel choices: the names of the tables, and the libraries behind them, in the order of priority.
CHOICES: dict[str, tuple[str, ...]] = {
    "L": ("linear",),
    "Q": ("quadratic",),
    "R": ("rbf",),
    "L+Q": ("linear+quadratic",),
    "L+R": ("linear+rbf",),
    "L+Q+R": ("linear+quadratic+rbf",),
    "L,Q,R": ("linear", "quadratic", "rbf"),
}
SMALL_CHOICES: dict[str, tuple[str, ...]] = {
    "linear": ("linear",),
    "RBF": ("rbf",),
    "composite": ("linear+rbf",),
    "mixture": ("linear", "rbf"),
}
KERNELS = ("linear", "quadratic", "rbf")
NORMS = {"2-norm": "l2", "1-norm": "l1"}
# Where the machines of table 2 are cut; the module of that name says how.
THRESHOLDS = ("solved", "share", "mean", "support", "classes", "extremes", "dropped", "labels")
