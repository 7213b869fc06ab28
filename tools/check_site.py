"""Check the site that `make docs` made: every link inside it leads to a page and a place.

Run: python tools/check_site.py build/docs
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of a page, and where its links and pictures lead."""

    def __init__(self, path):
        super().__init__()
        self.places, self.targets = {"", "top"}, []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note ids and targets."""
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.places.add(value)
            elif key in ("href", "src") and value:
                self.targets.append(value)


def main(folder):
    """Print the links that lead nowhere; the exit status is 1 if there are any."""
    folder = folder.resolve()
    pages = {
        path: Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts
    }
    broken = [
        f"{path.relative_to(folder)}: {target}"
        for path, page in pages.items()
        for target in page.targets
        if not leads_somewhere(path, target, pages)
    ]
    print("\n".join(broken) or f"All links between {len(pages)} pages lead somewhere.")
    sys.exit(bool(broken))


def leads_somewhere(path, target, pages):
    """Tell whether a link inside the site leads to a file and a place; others are not followed."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    other = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    if other.is_dir():
        other /= "index.html"
    if parts.fragment and other in pages:
        return unquote(parts.fragment) in pages[other].places
    return other.exists()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
