"""How the atlas reads its evidence: ranks, probabilities, fronts, answers, charts."""
