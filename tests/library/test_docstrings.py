"""The examples in the library's docstrings run, and show what is true."""

import doctest
import inspect
import re
from importlib import import_module
from pkgutil import resolve_name, walk_packages

import numpy as np
import pytest
from sklearn.base import is_regressor

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


def sections(name):
    """Return the sections of a class's docstring, by their heading."""
    parts = re.split(r"^([A-Z][\w ]+)\n-+\n", inspect.getdoc(getattr(kernsemble, name)), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """Return the names that a section describes; several may stand in a line."""
    lines = re.findall(r"^(\w.*)$", section.replace("\\\n", " "), re.MULTILINE)
    return {name for line in lines for name in re.split(r",\s+", line.partition(" : ")[0])}


ESTIMATORS = [*kernsemble._ESTIMATORS, "StreamedCGEns"]
OTHER = {  # which a docstring refers to for all else that a fit leaves
    "CGBoostNovelty": "CGBoostClassifier",
    "DistanceKernelSVCCV": "DistanceKernelSVC",
    "StreamedCGEns": "CGEns",
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_and_attribute_is_described(name):
    model = getattr(kernsemble, name)()
    assert described(sections(name)["Parameters"]) == set(model.get_params())
    few = {
        "n_rounds": 3,
        "n_iter_no_change": 2,
        **({"tol": None} if "n_rounds" in model.get_params() else {}),
    }
    model.set_params(**{key: value for key, value in few.items() if key in model.get_params()})
    X = np.random.default_rng(0).normal(size=(40, 2))
    model.fit(X, X[:, 0] if is_regressor(model) else X[:, 0] > 0)
    left = {attribute for attribute in vars(model) if re.fullmatch(r"[a-zA-Z]\w*_", attribute)}
    said = described(sections(name)["Attributes"])
    if name in OTHER:
        assert f"`{OTHER[name]}`" in sections(name)["Notes"] + sections(name)["Attributes"]
        said |= described(sections(OTHER[name])["Attributes"])
    assert left - said == set()


@pytest.mark.parametrize("name", [*ESTIMATORS, "ShapeDisplay"])
def test_what_to_look_at_beside_is_there(name):
    also = sections(name)["See Also"]
    assert sections(name)["Notes"].strip()
    for other in described(also):
        assert other != name
        assert resolve_name(other if "." in other else f"kernsemble:{other}") is not None
    assert len(described(also)) == len(re.findall(r"^\S+ : .+\.$", also, re.MULTILINE)) >= 2
