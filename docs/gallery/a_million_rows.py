"""# A million rows

The machine over all stumps takes time proportional to the entries of X from 4000 rows on, without a kernel
matrix, and says how far it is from the optimum. Boosted stumps take a pass over the rows a round.
"""

# %%
from time import process_time

import numpy as np

from kernsemble import AdaBoost, DistanceKernelSVC

rng = np.random.default_rng(0)
X = rng.integers(
    0, 256, (1_000_000, 10), dtype=np.uint8
)  # bytes: one for each entry, in memory and in the file
score = np.sin(X[:, 0] / 30.0) + (X[:, 1] / 128.0 - 1.0) ** 2 + 0.3 * rng.normal(size=len(X))
y = score > np.median(score)
for model in (DistanceKernelSVC(C=1e-6, tol=1e-2), AdaBoost(50)):
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    print(f"{type(model).__name__}: {seconds:.1f} s of the processor, accuracy {model.score(X, y):.3f}")

# %%
# The first has a certificate; the second, being stage-wise, has none.
machine = DistanceKernelSVC(C=1e-6, tol=1e-2).fit(X[::10], y[::10])
print(f"a tenth of the rows: at most {100 * machine.relative_gap_:.2f} % above the optimum")
assert machine.relative_gap_ <= 1e-2

# %%
# Rows that do not fit in memory stay in a file: [data larger than memory](../growth.md).
