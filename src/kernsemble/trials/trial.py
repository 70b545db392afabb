"""The names of a trial, and the randomness that comes from them.

A trial's random generators depend on its names alone: the same trial gives the same numbers at any number of
jobs, in any order, on this machine or on a cluster.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, order=True)
class Trial:
    """The key of one trial, and its sources of randomness.

    Attributes
    ----------
    paper, exhibit, dataset, method : str
        Names. For a function that serves several methods at once, ``method`` is the function's name.
    number : int
        0, 1, .. up to the number of runs.

    Examples
    --------
    >>> from kernsemble.trials.trial import Trial
    >>> a = Trial("linli2005", "table1", "sonar", "SVM-Stump", 0)
    >>> b = Trial("linli2005", "table1", "sonar", "SVM-Perc", 0)
    >>> a.shared_seed("split") == b.shared_seed("split"), a.seed() == b.seed()
    (True, False)
    """

    paper: str
    exhibit: str
    dataset: str
    method: str
    number: int

    def rng(self, *stream: str) -> np.random.Generator:
        """Return a generator that belongs to this trial's method alone; words name independent streams."""
        return np.random.default_rng(self._digest("own", self.exhibit, self.dataset, self.method, *stream))

    def seed(self, *stream: str) -> int:
        """Return an integer below 2**31 that belongs to this trial's method alone, for ``random_state``."""
        return self._digest("own", self.exhibit, self.dataset, self.method, *stream) % 2**31

    def shared_rng(self, *stream: str, dataset: str | None = None) -> np.random.Generator:
        """Return a generator that all methods and exhibits of this dataset and number share."""
        return np.random.default_rng(self._digest("shared", dataset or self.dataset, *stream))

    def shared_seed(self, *stream: str, dataset: str | None = None) -> int:
        """Return an integer below 2**31 that all methods and exhibits of this dataset and number share."""
        return self._digest("shared", dataset or self.dataset, *stream) % 2**31

    def _digest(self, *names: str) -> int:
        """Hash the names: SHA-256 is the same on every machine and Python, unlike ``hash``."""
        text = "\x1f".join((self.paper, str(self.number), *names))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")
