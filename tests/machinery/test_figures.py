"""Figures are saved alike each time, described in words, and stamped when they show only a part."""

import re
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
from support.machinery import open_fake

from kernsemble.report.figures import (
    PALETTE,
    draw_band,
    draw_boundary,
    draw_classes,
    draw_error_bars,
    grid_points,
    plane_grid,
    render,
    show_figure,
    subplots,
)


def draw():
    figure, axes = subplots(1, 2)
    curves = np.random.default_rng(0).random((4, 5))
    draw_band(axes[0], np.arange(5), curves, "a")
    draw_error_bars(axes[0], np.arange(5), curves, "b")
    axes[0].legend()
    X = np.random.default_rng(1).normal(size=(30, 2))
    grid = plane_grid(X, 20)
    draw_boundary(axes[1], grid, grid_points(grid) @ [1, 2])
    draw_classes(axes[1], X, np.sign(X @ [1, 2]).astype(int))
    return figure


def test_same_figure_gives_the_same_bytes(root):
    study = open_fake(root)
    written = []
    for _ in range(2):
        shown = show_figure(study, draw(), "figure1", alt="Two panels")
        written.append((shown.svg, (study.folder / "figures/figure1.svg").read_bytes()))
    assert written[0] == written[1]
    assert written[0][0].encode() == written[0][1]
    for word in (b"<dc:date>", b"Matplotlib v"):
        assert word not in written[0][1]


def test_description_is_in_the_drawing_and_in_the_notebook(root):
    shown = show_figure(open_fake(root), draw(), "figure1", alt='Error < 3 % & "falling"')
    element = ElementTree.fromstring(shown.svg)
    assert element.get("role") == "img"
    assert element.get("aria-label") == 'Error < 3 % & "falling"'
    bundle = shown._repr_mimebundle_()
    assert bundle == {"image/svg+xml": shown.svg, "text/plain": 'Error < 3 % & "falling"'}


def test_drawing_is_short_and_styles_markers_once():
    figure, axes = subplots()
    axes.plot(np.arange(50), np.arange(50) / 3, "o")
    svg = render(figure)
    assert "<metadata>" not in svg
    assert not re.search(r' d="[^"]*\.\d{3}', svg)
    (group,) = re.findall(r"<g [^>]*>(?:<use [^>]*/>){50}</g>", svg)
    assert group.count("style=") == 1
    root = ElementTree.fromstring(svg)
    markers = [use for use in root.iter("{http://www.w3.org/2000/svg}use") if "x" in use.attrib]
    assert len(markers) >= 50


def texts(figure):
    return [text.get_text() for text in figure.texts]


def test_incomplete_evidence_is_stamped_on_the_face(root):
    study = open_fake(root, compute=False)
    study.evidence("figure1")
    figure = draw()
    show_figure(study, figure, "figure1", alt="a")
    assert texts(figure) == ["figure1 incomplete: 0 of 5 trials"]
    figure = draw()
    show_figure(study, figure, "figure1", alt="a", exhibits=[])
    assert texts(figure) == []


def test_smaller_scale_is_named(root):
    study = open_fake(root, "quick")
    study.evidence("figure1")
    figure = draw()
    show_figure(study, figure, "figure1", alt="a", exhibits=["figure1"])
    assert texts(figure) == ["quick scale"]


def test_palette_is_that_of_the_style():
    subplots()
    assert mpl.rcParams["axes.prop_cycle"].by_key()["color"] == list(PALETTE)


def test_band_of_one_curve_has_no_width():
    _, axes = subplots()
    draw_band(axes, np.arange(3), np.ones((1, 3)), "a")
    assert len(axes.lines) == 1
    assert not axes.collections


def test_grid_points_lie_in_the_order_of_the_drawing():
    grid = plane_grid(np.array([[0.0, 0.0], [1.0, 2.0]]), 3, margin=0)
    points = grid_points(grid)
    assert points[1].tolist() == [0.5, 0.0]
    assert points[3].tolist() == [0.0, 1.0]


def test_figures_never_reach_pyplot():
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    subplots()
    assert pyplot.get_fignums() == before
