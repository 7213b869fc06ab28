"""Sphinx settings of the site; `make docs` builds the site into build/docs."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent))

project = "mvdfq"
author = "The mvdfq developers"
# The version stands in pyproject.toml alone.
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns: list[str] = []
templates_path = ["_templates"]
nitpicky = False

# Pages are Markdown, readable as they are; the API reference is made from docstrings.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # "fit()" fits beside the page
numpydoc_show_class_members = False
# A name in single quotes of a docstring refers to the API where it can, else it is code.
default_role = "autolink"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "default_thumb_file": str(Path(__file__).parent / "report.png"),
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # times of the machine that built the site mean nothing
    "write_computation_times": False,
    "image_scrapers": ("gallery_figures.scrape",),
    "reset_modules": (),
}

html_theme = "pydata_sphinx_theme"
html_title = f"mvdfq {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "comparison": []}  # pages without neighbours need no list of them
html_show_copyright = False
html_show_sphinx = False

# `mvdfq.figures` is an attribute of the package; autodoc looks for a module of this name.
import mvdfq  # noqa: E402

sys.modules["mvdfq.figures"] = mvdfq.figures


def _skip(app, what, name, member, skip, options):
    """Leave out the methods that scikit-learn gives to every estimator."""
    module = getattr(getattr(member, "fget", member), "__module__", None) or ""
    return True if module.partition(".")[0] == "sklearn" else None


# Files beside the folder docs, and the pages of the site that show them.
ABOVE = {
    "README": "index",
    "SECURITY": "security_policy",
    "CHANGELOG": "changelog",
    "CONTRIBUTING": "contributing",
}


def _link_inside(app, docname, source):
    """Lead links to files beside docs, such as ../SECURITY.md, to their pages."""
    up = "../" * docname.count("/")
    source[0] = re.sub(
        rf"\]\({re.escape(up)}\.\./({'|'.join(ABOVE)})\.md",
        lambda found: f"]({up}{ABOVE[found[1]]}.md",
        source[0],
    )


def _link_included(app, path, docname, content):
    """Do the same in files that a page includes, which lie beside docs."""
    content[0] = re.sub(
        rf"\]\(({'|'.join(ABOVE)})\.md", lambda found: f"]({ABOVE[found[1]]}.md", content[0]
    )


def setup(app):
    """Register what Sphinx calls while it builds."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("source-read", _link_inside)
    app.connect("include-read", _link_included)
