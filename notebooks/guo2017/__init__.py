"""The room of guo2017: the exclusivity regularized machine. Import from the submodules."""
