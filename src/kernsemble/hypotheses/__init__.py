"""Families of hypotheses: stumps, perceptrons, Fourier cosines, kernel columns. Import submodules."""
