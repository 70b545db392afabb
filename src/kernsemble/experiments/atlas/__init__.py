"""Trials of the atlas, the comparison across the five papers; ``plan`` says what they are."""

from kernsemble.experiments.atlas import arena, arena_pairs, arena_peers, diversity, limit, masters
from kernsemble.experiments.atlas.plan import paper

__all__ = ["arena", "arena_pairs", "arena_peers", "diversity", "limit", "masters", "paper"]
