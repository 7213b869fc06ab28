"""Pictures of the gallery: figures that an example keeps in a variable.

The figures of mvdfq are not known to pyplot, so the scraper of sphinx-gallery does not see them.
"""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save every figure once, and return the markup that shows the figures of a block."""
    seen = block_vars.setdefault("seen_figures", [])
    paths = []
    for value in block_vars["example_globals"].values():
        if isinstance(value, Figure) and not any(value is other for other in seen):
            seen.append(value)
            paths.append(next(block_vars["image_path_iterator"]))
            value.savefig(paths[-1], dpi=110)
    return figure_rst(paths, gallery_conf["src_dir"])
