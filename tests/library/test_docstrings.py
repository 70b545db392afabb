"""The examples in the library's docstrings run, and show what is true."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import kernsemble

LIBRARY = (
    "boosting",
    "column_generation",
    "estimators",
    "export",
    "growth",
    "hypotheses",
    "kernels",
    "masters",
)
MODULES = sorted(
    module.name
    for module in walk_packages(kernsemble.__path__, "kernsemble.")
    if module.name.split(".")[1] in LIBRARY
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0


def test_every_public_estimator_and_function_has_an_example():
    without = [name for name in kernsemble.__all__ if ">>>" not in (getattr(kernsemble, name).__doc__ or "")]
    assert without == ["__version__"]
