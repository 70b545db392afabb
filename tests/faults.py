"""How much the tests of faults and bad input try: a little in every run, all of it in `make test-faults`."""

import os

FULL = os.environ.get("KERNSEMBLE_FAULTS") == "full"
SEEDS = range(20 if FULL else 1)
EXAMPLES = 1000 if FULL else 60
PROBLEMS = 10_000 if FULL else 300
