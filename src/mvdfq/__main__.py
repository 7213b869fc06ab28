"""``python -m mvdfq``: the command line."""

from mvdfq.cli import main

if __name__ == "__main__":
    main()
