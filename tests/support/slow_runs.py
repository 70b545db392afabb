"""Runs of the slow paper to its end: what a disturbed run is compared with, and how it goes on."""

from __future__ import annotations

from kernsemble.trials.study import Study
from support.machinery import without_seconds
from support.processes import MODULE, evidence_file, make_repository

EXHIBITS = ("table1", "figure1")


def run_to_the_end(root):
    """Compute what is missing, in this process."""
    assert not Study(MODULE, "paper", root, jobs=1).run().failures


def undisturbed_lines(root):
    """Run in a new repository that nothing disturbs; return the lines of each file of evidence."""
    run_to_the_end(make_repository(root))
    return {exhibit: without_seconds(evidence_file(root, exhibit)) for exhibit in EXHIBITS}
