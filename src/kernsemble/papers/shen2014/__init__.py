"""How shen2014's printed numbers are read off the evidence, the checks of its claims, and its drawings."""

from kernsemble.papers.shen2014 import claims, claims_beyond
from kernsemble.papers.shen2014.cells import reading

__all__ = ["claims", "claims_beyond", "reading"]
