"""The checks of lin2012's claims, and its drawings; the paper prints no numbers that could be read off."""

from kernsemble.papers.lin2012 import claims, claims_solvers
from kernsemble.papers.lin2012.sets import reading

__all__ = ["claims", "claims_solvers", "reading"]
