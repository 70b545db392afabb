"""How bi2004's printed numbers are read off the evidence, the checks of its claims, and its drawings."""

from kernsemble.papers.bi2004 import claims, claims_behavior
from kernsemble.papers.bi2004.cells import reading

__all__ = ["claims", "claims_behavior", "reading"]
