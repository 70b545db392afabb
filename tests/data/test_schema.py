"""What a register says becomes what its annotation says; anything else is refused by its place.

``params.yaml``, ``sources.yaml``, ``claims.yaml``, ``published.csv`` and ``adoptions.csv`` are read by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from kernsemble.data.schema import Line, Text, convert, csv_text, matching, read_table, record

Digits = Annotated[str, matching("[0-9]+", "digits")]


@dataclass(frozen=True)
class Point:
    x: float
    name: Line = "origin"


@dataclass(frozen=True)
class Shape:
    kind: Literal["line", "area"]
    points: Mapping[str, Point]
    note: Text = ""


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (3, float, 3.0),
        ([1, 2], list[float], [1.0, 2.0]),
        (["a"], tuple[str, ...], ("a",)),
        ({"a": [1]}, dict[str, list[int]], {"a": [1]}),
        ({"a": [1]}, Any, {"a": [1]}),
        (None, int | None, None),
        ("x", Literal["x", "y"], "x"),
        (2, Literal[1, 2], 2),
        ("012", Digits, "012"),
        ({"x": 1}, Point, Point(1.0)),
        ({"kind": "line", "points": {"a": {"x": 2}}}, Shape, Shape("line", {"a": Point(2.0)})),
    ],
)
def test_values_become_the_annotated_type(value, hint, expected):
    converted = convert(value, hint, "key")
    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("value", "hint", "said"),
    [
        (True, Literal[1], "key: True is not allowed; allowed are 1."),
        ("z", Literal["x", "y"], "key: 'z' is not allowed; allowed are x, y."),
        ([1, "a"], list[int], "key[1]: expected int, found 'a'."),
        ("b", tuple[str, ...], "key: expected a list, found 'b'."),
        ({"a": 1.5}, dict[str, int], "key.a: expected int, found 1.5."),
        ({0: 1}, dict[str, int], "key (key): expected str, found 0 (in quotes it is text)."),
        ("a", int | None, "key: expected int or null, found 'a'."),
        (1, str, "key: expected str, found 1 (in quotes it is text)."),
        ("big", float, "key: expected float, found 'big' (YAML reads 1e-3 as text: write 1.0e-3)."),
        (True, float, "key: expected float, found True."),
        (float("nan"), float, "key: expected float, found nan."),
        ("a1", Digits, "key: expected digits, found 'a1'."),
        (1.0, Digits, "key: expected digits, found 1.0."),
        (" ", Text, "key: expected text, found ' '."),
        ("a\nb", Line, r"key: expected a line of text, found 'a\nb'."),
        ([], Point, "key: expected a mapping of names, found []."),
        ({1: 2}, Point, "key: expected names as keys (in quotes), found 1."),
        ({"x": 1, "z": 2}, Point, "key: unknown key 'z'; allowed are x, name."),
        ({"name": "a"}, Point, "key: key 'x' is missing."),
        ({"kind": "line", "points": {"a": {"x": "1"}}}, Shape, "key.points.a.x: expected float, found '1'"),
        ({"kind": "line", "points": []}, Shape, "key.points: expected a mapping, found []."),
    ],
)
def test_other_values_are_refused_by_their_place(value, hint, said):
    with pytest.raises(ValueError, match="key") as error:
        convert(value, hint, "key")
    assert str(error.value).startswith(said)


def test_fields_that_are_given_do_not_stand_in_a_mapping():
    assert record({"x": 1}, Point, "a", name="b") == Point(1.0, "b")
    with pytest.raises(ValueError, match="unknown key 'name'; allowed are x"):
        record({"x": 1, "name": "c"}, Point, "a", name="b")


def test_lines_of_a_table_come_back(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(csv_text([("a", "b"), ("1", "x,y"), ('"', "")]))
    lines = [(f"{path} (line 2)", {"a": "1", "b": "x,y"}), (f"{path} (line 3)", {"a": '"', "b": ""})]
    assert list(read_table(path, ("a", "b"))) == lines


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1 must be a,b"),
        (b"b,a\n", "line 1 must be a,b"),
        (b"a,b\n1,2\n3\n", r"\(line 3\): expected 2 cells, found 1"),
        (b"a,b\n1,2\n<<<<<<< HEAD\n", r"\(line 3\): expected 2 cells, found 1"),
        (b'a,b\n"1,2\n', "cannot be read"),
        (b"a,b\n\xff", "cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_damaged_table_is_named(tmp_path, content, said):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"t\.csv.*{said}"):
        list(read_table(path, ("a", "b")))
