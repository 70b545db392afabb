"""The room of bi2004: mixtures of kernels. Import from the submodules."""
