"""``python -m kernsemble``: reproduce the papers, verify what is committed, write the ledger."""

import gc
import os
import sys
from importlib.util import find_spec


def main() -> int:
    """Run the command line."""
    if find_spec("kernsemble.trials") is None:
        sys.exit("kernsemble: the commands need a clone of the repository: run `make setup` in one.")
    open_closed_streams()
    from kernsemble.trials.arithmetic import pin_kernels
    from kernsemble.trials.lifeline import leave, watch

    watch()
    gc.set_threshold(100_000)  # rows of evidence are many and in no cycles
    pin_kernels()  # before NumPy is imported
    from kernsemble.report.cli import main

    try:
        return main()
    finally:
        leave()


def open_closed_streams() -> None:
    """Give a caller's closed streams (``>&-``) to the null device, lest a file of rows gets their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


if __name__ == "__main__":
    sys.exit(main())
