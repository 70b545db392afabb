"""Sphinx configuration: the site is built from committed files alone and opens without a network."""

import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

import kernsemble

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import gallery  # noqa: E402
import notebook_figures  # noqa: E402
from articles import write_article  # noqa: E402
from citation import write_citation  # noqa: E402
from docstrings import escape_bars, unlink_names  # noqa: E402
from errata_page import write_errata_page  # noqa: E402
from findings import read_findings  # noqa: E402
from ledger_exports import write_exports  # noqa: E402
from ledger_pages import write_ledger_pages  # noqa: E402
from licences_page import write_licences_page  # noqa: E402
from races_page import write_races  # noqa: E402
from start_page import write_start_page  # noqa: E402
from touch_page import write_touch_pages  # noqa: E402

project = "kernsemble"
author = "The kernsemble developers"
copyright = "2026, the kernsemble developers"
release = version = kernsemble.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_extensions", "_start", "_templates", "gallery"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "code"
nb_code_prompt_hide = "hide code"
nb_render_markdown_format = "myst"  # sentences of `say` have formulas

autosummary_generate = True
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"
highlight_language = "none"  # of literal blocks in docstrings: mostly formulas; examples are recognized

suppress_warnings = ["ref.ref", "ref.footnote"]  # inherited docstrings of scikit-learn refer to its own pages

# One file that draws formulas as SVG: it needs no fonts, which browsers refuse to load from file://.
MATHJAX = Path(
    distribution("sphinx-mathjax-offline").locate_file(
        "sphinx-mathjax-offline/static/mathjax/tex-svg-full.js"
    )
)

html_theme = "furo"
html_title = "kernsemble"
html_logo = html_favicon = "_static/mark.svg"
html_static_path = ["_static", str(MATHJAX)]
html_extra_path = ["_exports"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("elements.js", "tables.js")]
html_copy_source = False
html_show_search_summary = False  # it would fetch the pages found, which browsers refuse on file://
mathjax_path = MATHJAX.name
mathjax3_config = {"options": {"enableMenu": False}, "svg": {"fontCache": "global"}}


def gather_results() -> None:
    """Bring notebooks, ledger and figures below the source folder, where Sphinx looks for pages."""
    pages = HERE / "_notebooks"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    findings = {finding.paper: finding for finding in read_findings(ROOT)}
    for notebook in sorted((ROOT / "results" / "paper").glob("*/*.ipynb")):
        write_article(notebook, pages / notebook.name, findings)
    write_exports(ROOT, HERE / "_exports")
    write_ledger_pages(ROOT, HERE / "_ledger")
    write_errata_page(ROOT, HERE / "_ledger" / "errata.md")
    write_start_page(ROOT, HERE / "_start", HERE / "_exports", findings.values())
    write_licences_page(ROOT, HERE / "_start")
    write_touch_pages(ROOT, HERE / "_start")
    write_races(ROOT, HERE / "_start" / "races.md")
    write_citation(ROOT, HERE / "_start" / "citation.md")
    gallery.write_gallery(HERE)


def setup(app) -> None:
    """Gather before Sphinx collects its pages; give the figures of notebooks their texts afterwards."""
    app.connect("config-inited", lambda app, config: gather_results())
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("doctree-read", unlink_names)
    notebook_figures.connect(app, ROOT)
