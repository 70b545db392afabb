"""Anything at all in params.yaml, sources.yaml and claims.yaml: read, or refused by a message that names it.

Every place of the real files is tried, with values that no one would write and with those of a slip.
"""

import copy
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.faults import EXAMPLES

from kernsemble.data.sources import parse_sources
from kernsemble.data.strict_yaml import read_yaml
from kernsemble.report.published import read_claims
from kernsemble.trials.errors import PlanError
from kernsemble.trials.plan import check_section, params_hash, read_params
from kernsemble.trials.registry import available_papers, load_paper
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
SOURCES = yaml.safe_load((ROOT / "src/kernsemble/data/sources.yaml").read_text())
CLAIMS = yaml.safe_load((ROOT / "published/claims.yaml").read_text())
SECONDS = 1.0  # a file is judged at once; computing takes hours

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.binary(max_size=4)
    | st.sampled_from(["1e-3", "all", "../x", "/etc/passwd", "a" * 5000, "\x1b[31m", "NaN", -1, 10**30, 0.1])
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=6,
)


def places(value, path=()):
    """Every place of a document."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in inside:
        yield from places(inner, (*path, name))


def with_value(document, path, value):
    """A copy with another value at one place."""
    changed = copy.deepcopy(document)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return changed


def without(document, path):
    changed = with_value(document, path, None)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return changed


def names(document, path):
    """How a message may name a place: one of its innermost names, or a name that stood in it."""
    stood = document
    for name in path:
        stood = stood[name]
    innermost = [name for name in path if isinstance(name, str)][-3:] or [f"claim {path[0] + 1}"]
    return innermost + [name for place in places(stood) for name in place if isinstance(name, str)]


def judged(read, document, path, error_type, figure):
    """Read; an error must be of the right type, short, name the key, and come at once."""
    start = time.process_time()
    try:
        read()
    except error_type as error:
        message = str(error)
        assert any(name in message for name in names(document, path)), f"{path}: {message}"
        assert len(message) < 10_000 + len(max(map(str, path), key=len))
    assert time.process_time() - start < SECONDS
    figure["tried"] += 1


given_file = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


@pytest.mark.parametrize("key", available_papers())
def test_any_value_in_params(key, figure):
    paper, section, count = load_paper(key), PARAMS[key], {"tried": 0}
    everywhere = list(places(section))

    @given_file
    @given(path=st.sampled_from(everywhere), value=anything, remove=st.booleans())
    def check(path, value, remove):
        changed = without(section, path) if remove else with_value(section, path, value)

        def read():
            params = check_section(changed, paper)
            for functions in paper.functions.values():
                for function in functions:
                    params_hash(params.values(function))

        judged(read, section, path, PlanError, count)

    check()
    figure("Bad input", "values put into places of params.yaml", count["tried"], count["tried"])


def test_any_value_in_sources(figure):
    count = {"tried": 0}

    @given_file
    @given(path=st.sampled_from(list(places(SOURCES))), value=anything, remove=st.booleans())
    def check(path, value, remove):
        small = {"packages": SOURCES["packages"], "datasets": SOURCES["datasets"]}
        if path[0] == "datasets" and len(path) > 1:  # one set is enough, and thirty times as fast
            small["datasets"] = {path[1]: SOURCES["datasets"][path[1]]}
        changed = without(small, path) if remove else with_value(small, path, value)
        text = yaml.dump(changed, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
        judged(lambda: parse_sources(text), SOURCES, path, ValueError, count)

    check()
    figure("Bad input", "values put into places of sources.yaml", count["tried"], count["tried"])


def test_any_value_in_claims(tmp_path, figure):
    count = {"tried": 0}
    file = tmp_path / "claims.yaml"

    @given_file
    @given(path=st.sampled_from(list(places(CLAIMS[:3]))), value=anything, remove=st.booleans())
    def check(path, value, remove):
        changed = without(CLAIMS[:3], path) if remove else with_value(CLAIMS[:3], path, value)
        file.write_text(yaml.safe_dump(changed), encoding="utf-8")
        judged(lambda: read_claims(file, PAPERS), CLAIMS, path, PlanError, count)

    check()
    figure("Bad input", "values put into places of claims.yaml", count["tried"], count["tried"])


def test_any_text_as_a_file(tmp_path, figure):
    """Text that is no register at all, and registers with a piece cut out or noise put in."""
    count, paper = {"tried": 0}, load_paper("linli2005")
    file = tmp_path / "file.yaml"
    texts = {
        "params": (ROOT / "params.yaml").read_text(),
        "claims": (ROOT / "published/claims.yaml").read_text(),
    }

    @given_file
    @given(
        which=st.sampled_from(sorted(texts)),
        start=st.floats(0, 1),
        cut=st.integers(0, 60),
        noise=st.text(max_size=20)
        | st.sampled_from(["\t", "- ", ": ", "{", "&a ", "*a", "!!python/name:os.system "]),
    )
    def check(which, start, cut, noise):
        position = int(start * len(texts[which]))
        text = texts[which][:position] + noise + texts[which][position + cut :]
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        begin = time.process_time()
        try:
            read_params(file, paper) if which == "params" else read_claims(file, PAPERS)
        except PlanError as error:
            assert len(str(error)) < 20_000  # noqa: PT017
        assert time.process_time() - begin < 5 * SECONDS
        count["tried"] += 1

    check()
    figure("Bad input", "damaged texts of params.yaml and claims.yaml", count["tried"], count["tried"])


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (BOMB, "100000 values"),
        ("a: &a [*a]", "itself"),
        ("[" * 100_000, "deeply"),
        ("{a: " * 60 + "1" + "}" * 60, "deeply"),
        ("a: 1\nb: {c: 1, c: 2}", "'c' twice, line 2"),
        ("!!python/object/apply:os.system [echo]", "constructor"),
        ("!!python/name:os.system x", "constructor"),
        ("a: !!timestamp x", "tag"),
        ("a: 2001-99-99", "month"),
        ("a: " + "9" * 5000, "digits"),
        ("a: b\n--- c", "single document"),
    ],
    ids=lambda value: value[:20],
)
def test_yaml_that_would_explode_or_run_code_is_refused(text, word):
    start = time.process_time()
    with pytest.raises(ValueError, match=word):
        read_yaml(text)
    assert time.process_time() - start < SECONDS


def test_a_file_of_the_wrong_kind_is_named_before_anything_runs(tmp_path):
    (tmp_path / "params.yaml").write_bytes(bytes(range(256)))
    with pytest.raises(PlanError, match=r"params\.yaml"):
        Study("linli2005", "quick", tmp_path)
