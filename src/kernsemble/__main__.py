"""``python -m kernsemble``: reproduce the papers, verify what is committed, write the ledger."""

import gc
import sys
from importlib.util import find_spec


def main() -> int:
    """Run the command line."""
    if find_spec("kernsemble.trials") is None:
        sys.exit("kernsemble: the commands need a clone of the repository: run `make setup` in one.")
    from kernsemble.trials.arithmetic import pin_kernels

    gc.set_threshold(100_000)  # rows of evidence are many and in no cycles
    pin_kernels()  # before NumPy is imported
    from kernsemble.report.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
