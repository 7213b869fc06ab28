"""``python -m mvdfq``: the command line."""

from mvdfq.cli import main

main()
