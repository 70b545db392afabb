"""The room of lin2012: multi-class boosting by coordinate descent. Import from the submodules."""
