"""A wrong key, type or name is an error that names it, before anything runs."""

import copy

import pytest
import yaml
from support.fake_paper.trials import paper
from support.machinery import FAKE

from kernsemble.trials.errors import PlanError
from kernsemble.trials.plan import check_section, check_sense, params_hash, read_params

SECTION = yaml.safe_load((FAKE / "params.yaml").read_text())["fake_paper"]


def changed(*path, to=None, remove=False):
    section = copy.deepcopy(SECTION)
    inner = section
    for name in path[:-1]:
        inner = inner[name]
    if remove:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return section


def test_sound_section_is_read():
    params = read_params(FAKE / "params.yaml", paper)
    (draws, *_) = paper.functions["table1"]
    assert params.values(draws) == {"n": 20, "bias": 0.5, "rule": "mean"}
    assert dict(params.scales["paper"]["figure1"].runs) == {"coin": 3, "die": 2}
    assert params.scales["quick"]["table1"].methods == ("plain", "long")
    assert params.choices["rule"].reason == "the paper does not say"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        (
            changed("protocoll", to={}),
            ["fake_paper", "'protocoll'", "protocol, choices, paper, quick, smoke"],
        ),
        (changed("protocol", "table1", "biass", to=1.0), ["protocol.table1", "'biass'", "bias, n, rule"]),
        (changed("protocol", "table9", to={}), ["'table9'", "table1"]),
        (changed("protocol", "table1", "bias", to=float("nan")), ["table1.bias", "nan"]),
        (changed("protocol", "shared", "n", to=2.5), [".n", "expected int", "2.5"]),
        (changed("protocol", "table1", remove=True), ["'bias'", "'draws'"]),
        (changed("protocol", "table1", "rule", to="mean"), ["'rule'", "named choices"]),
        (changed("choices", "rule", "value", to="mode"), ["'mode'", "mean, median"]),
        (changed("choices", "rule", "values", to=1), ["'values'", "value, reason, explored, chosen"]),
        (changed("choices", "rule", "chosen", to="early"), ["rule.chosen", "'early'"]),
        (changed("choices", "unused", to={"value": 1, "reason": "x"}), ["'unused'"]),
        (changed("smoke", remove=True), ["'smoke'"]),
        (changed("quick", "table1", "datasets", to=["coyn"]), ["quick.table1.datasets", "'coyn'", "coin"]),
        (changed("quick", "table1", "methods", to=["plane"]), ["'plane'", "plain, squared, short, long"]),
        (changed("quick", "figure1", "datasets", to=["a,b"]), ["'a,b'", "coin, die"]),
        (changed("quick", "table1", "runs", to=0), ["quick.table1.runs", "'coin'", "0"]),
        (changed("quick", "table1", "runs", to={"coin": 1}), ["'a,b'", "None"]),
        (changed("quick", "table1", "runs", to={"coyn": 1}), ["'coyn'"]),
        (changed("quick", "table1", "run", to=1), ["'run'", "datasets, methods, runs"]),
        (changed("quick", "table1", "runs", to=11), ["quick.table1", "subset"]),
        (changed("paper", "figure1", remove=True), ["quick.figure1", "subset"]),
    ],
)
def test_error_names_the_key_and_what_is_allowed(section, words):
    with pytest.raises(PlanError) as error:
        check_section(section, paper)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("fake_paper: {a: [}", "not valid YAML"),
        ("fake_paper: {a: 1, a: 2}", "'a' twice"),
        ("other: {}", "no section 'fake_paper'"),
        ("[1, 2]", "expected a mapping"),
        ("fake_paper: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("fake_paper: {1: 2}", "names as keys"),
        ("\x00", "not valid YAML"),
        ("[" * 5000, "YAML|deeply"),
    ],
)
def test_broken_file_is_an_error_that_names_it(tmp_path, text, word):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(PlanError, match=word):
        read_params(path, paper)


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(PlanError, match="cannot be read"):
        read_params(tmp_path / "params.yaml", paper)


def test_hash_changes_with_a_parameter_and_not_with_their_order():
    assert params_hash({"a": 1, "b": [2]}) == params_hash({"b": [2], "a": 1})
    assert params_hash({"a": 1}) != params_hash({"a": 2})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("eps", -0.1, "above 0"),
        ("stopping_rounds", 0, "above 0"),
        ("optimum_tol", 0.0, "above 0"),
        ("Cs", [], "is empty"),
        ("pair_points", [1, 5, 3], "in order"),
        ("pair_points", [1, 1], "none twice"),
        ("rates", [-0.1, 1.0], "negative"),
        ("sizes", {"train": -1}, "train: -1 is negative"),
    ],
)
def test_values_without_sense_are_refused_by_name(name, value, said):
    with pytest.raises(PlanError, match=rf"^paper\.{name}.*{said}"):
        check_sense(name, value, f"paper.{name}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log2_C", [-3, 0, 2]),
        ("log2_C", -6),
        ("rhos", [2.0, 1.5, 1.0]),
        ("excesses", [0.1, 0.0]),
        ("words", "a"),
    ],
)
def test_values_with_sense_are_not(name, value):
    check_sense(name, value, name)
