"""How guo2017's printed numbers are read off the evidence, the checks of its claims, and its drawings."""

from kernsemble.papers.guo2017 import claims
from kernsemble.papers.guo2017.cells import reading

__all__ = ["claims", "reading"]
