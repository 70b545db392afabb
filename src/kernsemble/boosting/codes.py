"""Codes that turn classes into two-class problems: fixed ones for AdaBoost.MO, a coloring a round for
AdaBoost.ECC.

A coloring gives each class -1 or +1. AdaBoost.ECC gains by colorings that part classes still confused: the
weight ``between[k, l]`` that class k's samples put on not being taken for l is cut where k and l differ in
color. The maximum cut is the natural choice of Guruswami and Sahai (1999); a random coloring cuts half of
the weight on average, and leaves the hypothesis an easier problem (Li 2006, Multiclass boosting with
repartitioning).
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from kernsemble.hypotheses.base import generator

_ENUMERATE_UP_TO = 12  # classes up to which all colorings are tried for the maximum cut
_ROUNDING = 1e-12  # share of the weight that a change of color must gain


def one_against_all(n_classes: int) -> np.ndarray:
    """Return the code whose column s separates class s from all others, (n_classes, n_classes)."""
    return 2.0 * np.eye(n_classes) - 1.0


@cache
def all_colorings(n_classes: int) -> np.ndarray:
    """Return the exhaustive code, all colorings up to a swap: (K, 2**(K - 1) - 1), read-only."""
    code = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=n_classes - 1)][1:]).T.copy()
    code.flags.writeable = False
    return code


def random_code(n_classes: int, n_columns: int, random_state: object = None) -> np.ndarray:
    """Return a code of random columns, none of them constant, (n_classes, n_columns)."""
    random = generator(random_state)
    return np.array([color_at_random(np.empty((n_classes, 0)), random) for _ in range(n_columns)]).T


def color_at_random(between: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Color each class -1 or +1 on its own, again if all are equal."""
    while True:
        colors = random.choice([-1.0, 1.0], size=len(between))
        if abs(colors.sum()) < len(between):
            return colors


def color_half(between: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Color half of the classes -1 and half +1, at random."""
    return random.permutation(np.where(np.arange(len(between)) % 2, 1.0, -1.0))


def color_by_cut(between: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Color the classes so that the most weight lies between unlike classes."""
    between = between + between.T
    np.fill_diagonal(between, 0.0)
    n_classes = len(between)
    if n_classes <= _ENUMERATE_UP_TO:
        colorings = all_colorings(n_classes)
        return colorings[:, (colorings * (between @ colorings)).sum(axis=0).argmin()]
    colors = color_at_random(between, random)
    while True:  # change the class that gains most, as long as one gains
        gains = colors * (between @ colors)
        if gains.max() <= _ROUNDING * between.sum():
            return colors
        colors[gains.argmax()] *= -1.0


COLORINGS = {"random": color_at_random, "half": color_half, "maxcut": color_by_cut}
