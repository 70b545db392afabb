"""Sphinx configuration: the site is built from committed files alone and opens without a network."""

import shutil
import sys
from pathlib import Path

import jupyter_server_mathjax

import kernsemble

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from errata_page import write_errata_page  # noqa: E402
from ledger_pages import write_ledger_pages  # noqa: E402

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
exclude_patterns = ["_build", "_extensions"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"

suppress_warnings = ["ref.ref", "ref.footnote"]  # inherited docstrings of scikit-learn refer to its own pages

html_theme = "furo"
html_title = "kernsemble"
html_static_path = ["_static", str(Path(jupyter_server_mathjax.__file__).parent / "static")]
html_css_files = ["site.css"]
html_copy_source = False
mathjax_path = "MathJax.js?config=TeX-AMS-MML_HTMLorMML-full"
mathjax2_config = {
    "messageStyle": "none",
    "showMathMenu": False,
    "HTML-CSS": {"availableFonts": ["TeX"], "webFont": "TeX", "imageFont": None},
    "tex2jax": {"processClass": "math|output_area|mathjax_process"},
}


def gather_results() -> None:
    """Bring notebooks and ledger below the source folder, where Sphinx looks for pages."""
    pages = HERE / "_notebooks"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    for notebook in sorted((ROOT / "results" / "paper").glob("*/*.ipynb")):
        shutil.copy(notebook, pages)
    write_ledger_pages(ROOT, HERE / "_ledger")
    write_errata_page(ROOT, HERE / "_ledger" / "errata.md")


def setup(app) -> None:
    """Gather before Sphinx collects its pages."""
    app.connect("config-inited", lambda app, config: gather_results())
