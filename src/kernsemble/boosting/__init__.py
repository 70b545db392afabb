"""Stage-wise boosting. Import from the submodules."""
