"""Trials: plan, identity of their code, execution, evidence. Import from the submodules."""
