"""Trials: plan, identity of their code, execution, evidence. Import from the submodules.

Whoever imports from here, a notebook or a worker that unpacks a job, can import the rooms too.
"""

from kernsemble.trials.rooms import open_rooms

open_rooms()
