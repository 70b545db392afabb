"""A card shows one panel of a figure, as a drawing that stands alone."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from kernsemble.report.figures import describe, render, subplots

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_extensions"))

import pictures


@pytest.fixture
def drawn(tmp_path):
    """A figure of three panels, left, middle and right; only the first draws the digits' glyphs."""
    figure, axes = subplots(1, 3)
    for panel, title in zip(axes, "abc", strict=True):
        panel.plot([0, 1], [0, 1])
        panel.set_title(title)
    path = tmp_path / "figure.svg"
    path.write_text(describe(render(figure), "Three panels"))
    return path


def groups(root):
    names = [group.get("id") for group in root.iter(f"{pictures.SVG}g")]
    return [name for name in names if name and name.startswith("axes_")]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_panel_is_cut_out_with_all_it_refers_to(drawn, tmp_path, number):
    image = pictures.picture(drawn, tmp_path / "cards/a.svg", tmp_path, number)
    root = ElementTree.parse(tmp_path / "cards/a.svg").getroot()
    assert groups(root) == [f"axes_{number}"]
    there = {element.get("id") for element in root.iter()}
    assert {use.get(pictures.LINK).lstrip("#") for use in root.iter(f"{pictures.SVG}use")} <= there
    left, top, width, height = map(float, root.get("viewBox").split())
    whole = ElementTree.parse(drawn).getroot()
    (frame,) = pictures.panels(root).values()
    assert left <= frame.left < frame.right <= left + width
    assert top <= frame.top < frame.bottom <= top + height
    assert width < float(whole.get("width").removesuffix("pt")) / 2
    assert image.startswith('<img src="cards/a.svg" alt="Three panels"')


def test_a_whole_figure_stays_whole(drawn, tmp_path):
    pictures.picture(drawn, tmp_path / "a.svg", tmp_path, 0)
    assert groups(ElementTree.parse(tmp_path / "a.svg").getroot()) == ["axes_1", "axes_2", "axes_3"]


def test_of_panels_that_share_an_axis_the_one_with_its_numbers_is_shown(tmp_path):
    figure, axes = subplots(2, 2, sharex=True, sharey=True)
    for panel in axes.flat:
        panel.plot([0, 1], [0, 1])
    path = tmp_path / "figure.svg"
    path.write_text(render(figure))
    pictures.picture(path, tmp_path / "a.svg", tmp_path)
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    _, top, _, height = map(float, root.get("viewBox").split())
    frame = pictures.panels(root)[next(g for g in root.iter() if g.get("id") == "axes_3")]
    assert top < frame.top < frame.bottom < top + height
    assert height < float(ElementTree.parse(path).getroot().get("height").removesuffix("pt")) * 0.6
