"""# On a cluster

Rows in chunks on the workers of a Dask cluster, boosted as if they were in one place: the stumps and weights
are the same to the last bit, for any number of chunks and workers. Here the cluster is two threads of this
process; `Client("tcp://SCHEDULER:8786")` is one of machines.
"""

# %%
import dask.array
import numpy as np
from distributed import Client

from kernsemble.growth import partitioned_adaboost

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 8))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.8, 1.0, -1.0)
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
    rows = dask.array.from_array(X, chunks=(5_000, -1))
    there = partitioned_adaboost(rows, dask.array.from_array(y, chunks=5_000), range(20), client=client)
here = partitioned_adaboost(X, y, range(20))
print(there.keys[:2], f"exponential loss {there.losses[-1]:.4f}")
assert there.keys == here.keys
assert np.array_equal(there.W, here.W)
