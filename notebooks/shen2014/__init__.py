"""The room of shen2014: ensembles from kernel machines. Import from the submodules."""
