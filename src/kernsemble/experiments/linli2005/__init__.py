"""Trials of linli2005; ``plan`` says what they are."""

from kernsemble.experiments.linli2005 import beyond, figure2, lpboost, protocol, tables, theory
from kernsemble.experiments.linli2005.plan import paper

__all__ = ["beyond", "figure2", "lpboost", "paper", "protocol", "tables", "theory"]
