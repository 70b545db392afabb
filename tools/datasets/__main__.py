"""``python tools/datasets``: build, verify, list, fetch."""

import sys

from kernsemble.data.cli import main

if __name__ == "__main__":
    sys.exit(main(prog="python tools/datasets"))
