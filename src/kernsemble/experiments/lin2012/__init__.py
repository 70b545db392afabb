"""Trials of lin2012; ``plan`` says what they are."""

from kernsemble.experiments.lin2012 import alternatives, beyond, curves, solvers, theory
from kernsemble.experiments.lin2012.plan import paper

__all__ = ["alternatives", "beyond", "curves", "paper", "solvers", "theory"]
