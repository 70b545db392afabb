"""Trials, their plan and their execution; one module a paper. Import from the submodules."""
