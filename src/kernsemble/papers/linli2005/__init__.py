"""How linli2005's printed numbers are read off the evidence, the checks of its claims, and its drawings."""

from kernsemble.papers.linli2005 import claims, facts
from kernsemble.papers.linli2005.cells import reading

__all__ = ["claims", "facts", "reading"]
