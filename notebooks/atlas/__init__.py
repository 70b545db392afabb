"""The room of atlas: the comparison across the five papers. Import from the submodules."""
