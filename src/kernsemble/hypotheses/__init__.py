"""Families of hypotheses: stumps, perceptrons, Fourier cosines, kernel columns. Import from the submodules."""
