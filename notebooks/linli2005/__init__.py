"""The room of linli2005: infinite ensembles. Import from the submodules."""
