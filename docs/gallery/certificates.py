"""# Certificates and what they mean

A solver that stops after so many iterations says nothing about how far it got. Each fit here that solves a
stated problem carries a number that bounds its distance from the optimum, and the dual weights that prove
it.
"""

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import KBinsDiscretizer

from kernsemble import CGEns

X, y = load_breast_cancer(return_X_y=True)
bins = KBinsDiscretizer(16, encode="ordinal", quantile_method="averaged_inverted_cdf")
X = bins.fit_transform(X)  # some 400 stumps: few enough to get to the end
short = CGEns(C=0.01, n_rounds=20, tol=None).fit(X, y)
long = CGEns(C=0.01, n_rounds=3000, tol=1e-4).fit(X, y)
for model in (short, long):
    print(
        f"{model.n_rounds_:4d} stumps: objective {model.objective_path_[-1]:.4f}, "
        f"at most {model.dual_gap_:.4f} above the optimum over all stumps ({100 * model.relative_gap_:.3f} %)"
    )
assert long.relative_gap_ <= 1e-4

# %%
# `tol` asks for a relative gap. A fit that ends before it warns once; `tol=None` says that the number of
# rounds is what you want, and nothing warns.
#
# The claim can be checked without this package. The dual objective of the hinge with a free intercept is
# $\sum_i \lvert u_i\rvert - \tfrac12 \sum_h \bigl(\sum_i u_i h(x_i)\bigr)^2$, the sum over **all** stumps,
# for any $u$ with $0 \le \lvert u_i\rvert \le C$ that sums to zero. Here it is in ten lines of NumPy.
u = long.dual_weights_
squares = 0.0
for column in X.T:
    order = np.argsort(column)
    left = np.cumsum(u[order])[:-1]  # u summed over the rows left of a cut
    cuts = np.diff(column[order]) > 0
    squares += np.sum((-2.0 * left[cuts] + u.sum()) ** 2)
bound = np.abs(u).sum() - 0.5 * squares
print(
    f"no ensemble of stumps has an objective below {bound:.6f}; this one has {long.objective_path_[-1]:.6f}"
)
assert np.isclose(long.objective_path_[-1] - bound, long.dual_gap_, atol=1e-6)
assert np.abs(u).max() <= 0.01 * (1 + 1e-9)
assert abs(u.sum()) < 1e-9

# %%
# The gap falls while rounds are added. Test error is usually flat long before; the certificate says that what
# is left is a matter of the problem, not of the solver.
from matplotlib import pyplot as plt

plt.semilogy(np.arange(1, long.n_rounds_ + 1), long.objective_path_)
plt.axhline(bound, color="0.5", linestyle="--")
plt.xlabel("rounds")
plt.ylabel("objective, and the bound below it")
