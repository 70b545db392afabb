"""Restricted master problems, one loss and norm a module. Import from the submodules."""
