"""The examples in the docstrings of what reproduces the papers run, and show what is true."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import kernsemble

PARTS = ("data", "trials", "report")
FOUND = [module.name for module in walk_packages(kernsemble.__path__, "kernsemble.")]
MODULES = [name for name in FOUND if name.split(".")[1] in PARTS and not name.endswith("__main__")]


@pytest.mark.parametrize("name", [*MODULES, "datasets.archives"])
def test_examples(name):
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0
