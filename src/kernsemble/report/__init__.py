"""Tables, figures, notebooks, the ledger, commands. Import from the submodules."""
