"""How each paper's printed numbers are read off the evidence, and the checks of its claims."""
