"""The site as its readers meet it: built once, its links followed, every page opened in a real browser.

The browser is Chromium (Debian: `apt install chromium`), found on the path or named by the variable CHROMIUM;
without it the tests that need it are skipped. Nothing here depends on what the results say.
"""

import csv
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
import yaml
from docutils.nodes import make_id
from support.chromium import Browser, find_chromium

from kernsemble.report.say import MISSING

ROOT = Path(__file__).parents[2]
NO_BROWSER = "Chromium was not found: `apt install chromium`, or name it: CHROMIUM=... make test-site"
QUESTIONS = (ROOT / "tests/support/page_questions.js").read_text(encoding="utf-8")
PHONE = 375
pytestmark = pytest.mark.timeout(
    1200
)  # the site is built within the first test; a busy machine takes its time


class Page(HTMLParser):
    """What a page offers to links, and where it leads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors, self.links, self.sources, self.images = {"", "top"}, [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.anchors |= {known[name] for name in ("id", "name") if known.get(name)}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag in ("script", "img", "source", "iframe") and known.get("src"):
            self.sources.append(known["src"])
        if tag == "link" and known.get("rel") in ("stylesheet", "icon", "preload"):
            self.sources.append(known["href"])
        if tag == "img":
            self.images.append(known)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder of the built site."""
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "sphinx", "--quiet", "docs", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if find_chromium() is None:
        pytest.skip(NO_BROWSER)
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=QUESTIONS)
        yield browser


@pytest.fixture(scope="module")
def visits(site, pages, browser):
    """What was seen on every page: wide and light first, then on a phone in the dark.

    Listings of source code are all of one kind: three of them stand for all.
    """
    listings = [path for path in pages if "_modules" in path.parts][3:]
    seen = {}
    for path in sorted(pages.keys() - set(listings)):
        browser.look()
        browser.open(path.as_uri())
        found = {"not typeset": browser.ask("ask.notTypeset()"), "not loaded": browser.ask("ask.notLoaded()")}
        found |= {"faint": browser.ask("ask.faint()"), "wide": browser.ask("ask.width()")}
        browser.look(width=PHONE, height=800, scheme="dark")
        found |= {"faint in the dark": browser.ask("ask.faint()"), "narrow": browser.ask("ask.width()")}
        found |= {"background": browser.ask("ask.background()"), "complaints": list(browser.complaints)}
        seen[str(path.relative_to(site))] = found
    return seen


def collected(visits, name):
    return {page: found[name][:5] for page, found in visits.items() if found[name]}


def test_no_link_is_broken(site, pages):
    broken = set()
    for path, page in pages.items():
        for link in page.links + page.sources:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                broken.add(f"{path.relative_to(site)}: {link} is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                broken.add(f"{path.relative_to(site)}: {link} has no such anchor")
    assert not broken, "\n".join(sorted(broken)[:40])


def test_pages_load_nothing_from_elsewhere(pages):
    for path, page in pages.items():
        assert not [source for source in page.sources if urlsplit(source).scheme not in ("", "data")], path


def test_every_image_has_its_text(site, pages):
    for path, page in pages.items():
        without = [image["src"] for image in page.images if not (image.get("alt") or "").strip()]
        assert not without, f"{path.relative_to(site)}: {without}"
        assert not [image for image in page.images if image["alt"] == image["src"]], path.relative_to(site)


def test_gallery_shows_every_committed_figure(site, pages):
    shown = {image["src"] for image in pages[site / "gallery.html"].images}
    figures = ROOT.glob("results/paper/*/figures/*.svg")
    committed = {f"thumbs/{path.parent.parent.name}/{path.stem}.svg" for path in figures}
    assert committed <= shown


def weight(page, path):
    """Bytes of a page with all that it loads before the reader moves."""
    waiting = {image["src"] for image in page.images if image.get("loading") == "lazy"}
    at_once = set(page.sources) - waiting
    files = {path} | {(path.parent / unquote(urlsplit(source).path)).resolve() for source in at_once}
    return sum(file.stat().st_size for file in files)


def test_pages_are_light(site, pages):
    """No page takes a megabyte but the articles, and those that need the program that draws formulas."""
    for path, page in pages.items():
        formulas = any("mathjax" in source or "tex-svg" in source for source in page.sources)
        if path.parent.name != "_notebooks" and not formulas:
            assert weight(page, path) < 1e6, path.relative_to(site)
    light = ("index.html", "gallery.html", "_ledger/index.html", "_ledger/bi2004.html", "guide.html")
    for name in light:
        assert weight(pages[site / name], site / name) < 1e6, name


def test_pictures_of_the_gallery_are_small(site):
    """They are loaded as the reader comes to them: one panel of a figure each."""
    sizes = [path.stat().st_size for path in (site / "thumbs").rglob("*.svg")]
    assert len(sizes) > 50
    assert max(sizes) < 250e3
    assert sum(sizes) < 3.5e6


def test_every_printed_number_and_claim_is_a_square(site, pages):
    with (ROOT / "results/paper/ledger.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] in ("cell", "claim")]
    text = (site / "index.html").read_text(encoding="utf-8")
    assert text.count('<a class="square ') == len(rows)
    some = next(row for row in rows if row["kind"] == "cell" and row["z"])
    said = f"{some['paper']} {some['exhibit']}: {some['row']}, {some['column']}"
    square = text[text.index(f'aria-label="{said}') :].partition("</a>")[0]
    assert f"printed {some['printed']}" in square
    assert f"z = {some['z']}" in square


def test_findings_have_a_figure_and_their_numbers(site, pages):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert text.count('<article class="finding">') == 5
    assert MISSING not in text[text.index('class="findings"') : text.index('id="wall-of-numbers"')]
    written = yaml.safe_load((ROOT / "docs/findings.yaml").read_text(encoding="utf-8"))
    for key, finding in written.items():
        typed = "".join(literal for literal, *_ in Formatter().parse(finding["text"]))
        assert not re.search(r"\d\.\d", typed), key
        page = pages[site / f"_notebooks/{key}.html"]
        assert make_id(finding["heading"]) in page.anchors


def test_every_printed_table_can_be_taken_away(site, pages):
    with (ROOT / "results/paper/ledger.csv").open(encoding="utf-8", newline="") as file:
        printed = [row for row in csv.DictReader(file) if row["kind"] == "cell"]
    for paper, exhibit in {(row["paper"], row["exhibit"]) for row in printed}:
        link = f"../tables/{paper}/printed_{exhibit}"
        assert {f"{link}.csv", f"{link}.tex"} <= set(pages[site / f"_ledger/{paper}.html"].links)
        with (site / f"tables/{paper}/printed_{exhibit}.csv").open(encoding="utf-8", newline="") as file:
            taken = list(csv.DictReader(file))
        assert [row["printed"] for row in taken] == [
            row["printed"] for row in printed if (row["paper"], row["exhibit"]) == (paper, exhibit)
        ]
        latex = (site / f"tables/{paper}/printed_{exhibit}.tex").read_text(encoding="utf-8")
        assert latex.count(r"\\") == 1 + len({row["row"] for row in taken})


def test_every_page_opens_without_complaint(visits, browser):
    assert not collected(visits, "complaints")
    asked = {urlsplit(address).scheme for address in browser.requests}
    assert asked <= {"file", "data", "about", "blob"}


def test_formulas_are_typeset(visits, pages):
    assert not collected(visits, "not typeset")
    assert any("MathJax" in path.read_text(encoding="utf-8") for path in pages)


def test_figures_are_loaded(visits):
    assert not collected(visits, "not loaded")


def test_text_stands_out_in_light_and_dark(visits):
    assert not collected(visits, "faint")
    assert not collected(visits, "faint in the dark")
    assert max(max(found["background"]) for found in visits.values()) < 64


def test_no_page_is_wider_than_its_window(visits):
    assert not {page: found["wide"] for page, found in visits.items() if found["wide"] > 1280}
    assert not {page: found["narrow"] for page, found in visits.items() if found["narrow"] > PHONE}


def test_contrast_is_computed_as_the_guidelines_say(browser, tmp_path):
    """Black on white has 21:1; #777 on white 4.48, #767676 4.54: just below and just above the line."""
    page = tmp_path / "page.html"
    page.write_text(
        "<p style='color: #777'>faint</p><p style='color: #767676'>fine</p><p style='opacity: 0.3'>pale</p>"
        "<div style='background: #000'><p style='color: rgba(255, 255, 255, 0.3)'>dim</p></div>"
    )
    browser.look()
    browser.open(page.as_uri())
    assert [text.partition("«")[2] for text in browser.ask("ask.faint()")] == ["faint»", "pale»", "dim»"]


def test_complaints_of_a_page_are_noticed(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<img src='gone.png'><script>console.error('first'); gone()</script>")
    browser.open(page.as_uri())
    said = " ".join(browser.complaints)
    assert "first" in said
    assert "ReferenceError" in said
    assert "ERR_FILE_NOT_FOUND" in said
    assert browser.ask("ask.notLoaded()") == [(tmp_path / "gone.png").as_uri()]


@pytest.fixture
def ledger(site, browser):
    browser.look()
    browser.open((site / "_ledger/index.html").as_uri())
    return browser


def test_ledger_is_filtered_by_words_paper_and_verdict(ledger):
    with (ROOT / "results/paper/ledger.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    some = rows[len(rows) // 2]
    ledger.ask(f"ask.choose('paper', {json.dumps(some['paper'])})")
    assert len(ledger.ask("ask.column(0)")) == sum(row["paper"] == some["paper"] for row in rows)
    ledger.ask(f"ask.choose('verdict', {json.dumps(some['verdict'])})")
    chosen = [row for row in rows if (row["paper"], row["verdict"]) == (some["paper"], some["verdict"])]
    assert sorted(ledger.ask("ask.column(2)")) == sorted(row["row"] for row in chosen)
    assert ledger.ask("ask.count()") == f"{len(chosen)} of {len(rows)} rows"
    ledger.ask("document.getElementById('ledger-search').focus()")
    ledger.call("Input.insertText", text=f"{some['exhibit']} {some['row'].upper()}")
    texts = ledger.ask("ask.texts()")
    assert texts
    assert all(some["exhibit"].lower() in text and some["row"].lower() in text for text in texts)
    ledger.ask("ask.choose('search', 'no row has these words')")
    assert ledger.ask("ask.texts()") == []


@pytest.mark.parametrize(("name", "position"), [("printed", 4), ("z", 7)])
def test_ledger_is_sorted_by_number_up_and_down_with_blanks_last(ledger, name, position):
    for order in ("ascending", "descending"):
        ledger.ask(f"ask.sortBy('{name}')")
        texts = ledger.ask(f"ask.column({position})")
        numbers = [float(text.split()[0]) for text in texts if text]
        assert len(numbers) > 100
        assert numbers == sorted(numbers, reverse=order == "descending")
        assert not any(texts[len(numbers) :])
        assert ledger.ask(f"ask.order({position})") == order


def test_ledger_filter_stands_in_the_address(ledger, site):
    with (ROOT / "results/paper/ledger.csv").open(encoding="utf-8", newline="") as file:
        some = next(row for row in csv.DictReader(file) if row["z"])
    for name in ("paper", "verdict"):
        ledger.ask(f"ask.choose('{name}', {json.dumps(some[name])})")
    shown, address = ledger.ask("ask.count()"), ledger.ask("location.href")
    assert dict(parse_qsl(urlsplit(address).query)) == {name: some[name] for name in ("paper", "verdict")}
    ledger.open("about:blank")
    ledger.open(address)
    assert ledger.ask("ask.count()") == shown
    assert not shown.startswith("0 ")
    assert set(ledger.ask("ask.column(0)")) == {some["paper"]}
    ledger.ask("document.querySelector('.ledger-filter [type=reset]').click()")
    ledger.ask("new Promise((done) => setTimeout(done, 50))")
    assert "?" not in ledger.ask("location.href")


def test_ledger_finds_rows_by_what_their_names_mean(ledger):
    ledger.ask("ask.choose('search', 'bi2004 forest LQR test error')")
    assert set(zip(ledger.ask("ask.column(2)"), ledger.ask("ask.column(3)"), strict=True)) >= {
        ("2-norm/L,Q,R", "R_tst"),
        ("1-norm/L,Q,R", "R_tst"),
    }
    assert set(ledger.ask("ask.column(1)")) == {"table3"}


def test_dragging_over_the_points_keeps_the_rows_between(ledger):
    points = ledger.ask("document.querySelectorAll('#ledger-plot circle').length")
    assert points == sum(text != "" for text in ledger.ask("ask.column(7)"))
    plot = "document.querySelector('#ledger-plot svg')"
    ledger.ask(f"{plot}.scrollIntoView({{behavior: 'instant'}})")
    left, top, width, height = ledger.ask(
        f"['left', 'top', 'width', 'height'].map((side) => {plot}.getBoundingClientRect()[side])"
    )
    for kind, share in (("mousePressed", 0.5), ("mouseMoved", 0.3), ("mouseReleased", 0.2)):
        ledger.call(
            "Input.dispatchMouseEvent", type=kind, x=left + share * width, y=top + height / 2,
            button="left", clickCount=1,
        )  # fmt: skip
    low, high = (
        float(ledger.ask(f"document.getElementById('ledger-{end}').value")) for end in ("from", "to")
    )
    kept = [float(text) for text in ledger.ask("ask.column(7)")]
    assert low < high < 0
    assert kept
    assert all(low <= z <= high for z in kept)
    ledger.ask("ask.choose('from', '')")
    ledger.ask("ask.choose('to', '')")


def test_printed_against_ours_is_read_by_pointing_and_follows_the_filter(ledger):
    dots = "[...document.querySelectorAll('#ledger-scatter circle')]"
    count = ledger.ask(f"{dots}.length")
    assert count > 100
    ledger.ask(f"{dots}[5].dispatchEvent(new PointerEvent('pointerenter'))")
    row = ledger.ask("[...document.querySelector('#ledger-table tr.marked').cells].map((c) => c.textContent)")
    said = ledger.ask("document.querySelector('#ledger-scatter output').textContent")
    assert said.startswith(f"{row[0]} {row[1]}, {row[2]}, {row[3]}: printed {row[4]}, ours {row[5]}")
    ledger.ask(f"ask.choose('paper', {json.dumps(row[0])})")
    own = ledger.ask(f"{dots}.filter((dot) => !dot.classList.contains('out')).length")
    assert 0 < own < count
    ledger.ask("ask.choose('paper', '')")


def test_wall_is_read_by_keyboard_and_by_verdict(browser, site):
    browser.look()
    browser.open((site / "index.html").as_uri())
    said = "document.querySelector('.wall-tip').textContent"
    browser.ask("document.querySelector('.wall-grid a').focus()")
    first = browser.ask(said)
    assert "printed" in first
    browser.press("ArrowRight", code=39)
    second = browser.ask(said)
    assert second != first
    browser.press("ArrowDown", code=40)
    assert browser.ask(said) not in (first, second)
    browser.press("Escape", code=27)
    assert browser.ask("document.querySelector('.wall-tip').hidden")
    assert browser.ask("document.querySelectorAll('.wall-grid a[tabindex=\"0\"]').length") == browser.ask(
        "document.querySelectorAll('.wall-grid').length"
    )
    button = "document.querySelector('.wall-legend button')"
    chosen = browser.ask(f"{button}.dataset.verdict")
    browser.ask(f"{button}.click()")
    bright = browser.ask("[...document.querySelectorAll('a.square:not(.faded)')].map((a) => a.className)")
    assert bright
    assert all(chosen in name.split() for name in bright)
    browser.ask(f"{button}.click()")
    assert browser.ask("document.querySelectorAll('a.square.faded').length") == 0


def test_slider_runs_from_the_ensemble_into_the_machine(browser, site):
    browser.look()
    browser.open((site / "from-ensemble-to-kernel.html").as_uri())
    numbers = json.loads(browser.ask("document.getElementById('limit-numbers').textContent"))
    cells = "[...document.querySelectorAll('.touch tbody tr')].map((row) => row.cells[2].textContent)"
    seen = []
    for key, code in (("Home", 36), ("End", 35)):
        browser.ask("document.querySelector('.touch input').focus()")
        browser.press(key, code=code)
        seen.append([float(text.split()[0]) for text in browser.ask(cells)])
    for shown, i in zip(seen, (0, -1), strict=True):
        wanted = [own["differ"][i] for own in numbers["sets"].values()]
        assert shown == pytest.approx(wanted, abs=0.051)
    assert sum(seen[1]) < sum(seen[0])


def test_a_method_lights_up_in_all_panels_by_pointer_and_by_keyboard(browser, site):
    browser.look()
    browser.open((site / "drawings.html").as_uri())
    sets = json.loads(browser.ask("document.getElementById('fronts-numbers').textContent"))["sets"]
    own = sets[browser.ask("document.querySelector('#fronts select').value")]
    marked = "[...document.querySelectorAll('#fronts circle.marked')].map((dot) => dot.dataset.method)"
    for method, how in ((min(own), "focus()"), (max(own), "click()")):
        browser.ask(
            f"[...document.querySelectorAll('#fronts button')].find((b) => b.textContent === '{method}')"
            f".{how}"
        )
        assert browser.ask(marked) == [method] * 3
        assert f"{own[method][0]:.1f} % errors" in browser.ask(
            "document.querySelector('#fronts > output').textContent"
        )
    label = next(name for name in sets if sets[name].keys() != own.keys())
    browser.ask(
        "(() => { const field = document.querySelector('#fronts select'); "
        f"field.value = '{label}'; field.dispatchEvent(new Event('input')); }})()"
    )
    assert browser.ask("document.querySelectorAll('#fronts circle').length") == 3 * len(sets[label])


def test_members_collapse_into_one_machine(browser, site):
    browser.look()
    browser.open((site / "drawings.html").as_uri())
    lines = (
        "[...document.querySelectorAll('#collapse line.curve:not(.machine)')]"
        ".map((line) => ['x1', 'y1', 'x2', 'y2'].map((name) => Number(line.getAttribute(name))))"
    )
    spreads = []
    for key, code in (("Home", 36), ("End", 35)):
        browser.ask("document.querySelector('#collapse input').focus()")
        browser.press(key, code=code)
        members = browser.ask(lines)
        assert len(members) == 5
        spreads.append(max(abs(one[1] - members[0][1]) + abs(one[3] - members[0][3]) for one in members))
    assert spreads[1] < 2 < spreads[0]


def test_curve_of_each_feature_is_drawn_and_read(browser, site):
    browser.look()
    browser.open((site / "drawings.html").as_uri())
    curves = json.loads(browser.ask("document.getElementById('curves-numbers').textContent"))["curves"]
    for name, points in curves.items():
        browser.ask(
            "(() => { const field = document.querySelector('#curves select'); "
            f"field.value = {json.dumps(name)}; field.dispatchEvent(new Event('input')); }})()"
        )
        drawn = browser.ask("document.querySelector('#curves polyline').getAttribute('points')")
        assert len(drawn.split()) == len(points) >= 10


def test_tables_of_articles_are_sorted_by_a_press_or_by_enter(browser, site):
    browser.look()
    browser.open((site / "_notebooks/linli2005.html").as_uri())
    table = "document.querySelector('th.sortable').closest('table')"
    head = f"{table}.tHead.rows[0].cells[0]"
    texts = f"[...{table}.tBodies[0].rows].map((row) => row.cells[0].textContent)"
    before = browser.ask(texts)
    browser.ask(f"{head}.click()")
    up = browser.ask(texts)
    assert browser.ask(f"{head}.ariaSort") == "ascending"
    browser.ask(f"{head}.focus()")
    browser.press("Enter", code=13)
    down = browser.ask(texts)
    assert browser.ask(f"{head}.ariaSort") == "descending"
    assert sorted(before) == sorted(up) == sorted(down)
    assert up != down


def test_articles_open_with_their_finding_and_fold_what_only_shows_results(site):
    for key in yaml.safe_load((ROOT / "docs/findings.yaml").read_text(encoding="utf-8")):
        text = (site / f"_notebooks/{key}.html").read_text(encoding="utf-8")
        assert text.index("finding-in-brief") < text.index("<h2>")
        folded = text.count("<details class=")
        assert 0 < folded < text.count("cell_input docutils")
        assert 'class="figure-caption"' in text


def test_keyboard_reaches_things_and_its_place_is_seen(ledger, site):
    for page in ("index.html", "_ledger/index.html"):
        ledger.open((site / page).as_uri())
        seen = []
        for _ in range(25):
            ledger.press("Tab", code=9)
            seen.append(ledger.ask("ask.focus()"))
        assert all(ring for _, ring in seen), [name for name, ring in seen if not ring]
        assert len({name for name, _ in seen}) > 10


def test_search_finds_pages_without_a_server(browser, site):
    browser.look()
    browser.open(f"{(site / 'search.html').as_uri()}?q=column+generation")
    found = browser.ask("ask.searched()")
    assert any("column_generation" in link for link in found)
    assert not browser.complaints


def test_theme_can_be_chosen_by_hand(ledger):
    before = ledger.ask("document.body.dataset.theme")
    ledger.ask("document.querySelector('.theme-toggle').click()")
    assert ledger.ask("document.body.dataset.theme") != before
    ledger.ask("localStorage.clear()")
