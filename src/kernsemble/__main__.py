"""``python -m kernsemble``: reproduce the papers, verify what is committed, write the ledger."""

import sys


def main() -> int:
    """Run the command line."""
    from kernsemble.trials.arithmetic import pin_kernels

    pin_kernels()  # before NumPy is imported
    from kernsemble.report.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
