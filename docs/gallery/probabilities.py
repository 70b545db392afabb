"""# Probabilities

Margins are not probabilities: the hinge is done with a sample as soon as its margin exceeds one.
scikit-learn's `CalibratedClassifierCV` maps margins to probabilities on held-out folds; with
`ensemble=False` the model itself is fitted once, to all samples.
"""

# %%
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_hastie_10_2
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from kernsemble import CGEns

X, y = make_hastie_10_2(3000, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
margins = CGEns(C=0.01, n_rounds=150, tol=None)
model = CalibratedClassifierCV(margins, ensemble=False, cv=3).fit(X, y)
p = model.predict_proba(X_test)
brier = brier_score_loss(y_test, p[:, 1])
print(f"log loss {log_loss(y_test, p):.3f} (of a coin 0.693), Brier score {brier:.3f}")
assert log_loss(y_test, p) < 0.4

# %%
# The curve should follow the diagonal: of samples with a probability of 0.8, 80 % should be positive.
display = CalibrationDisplay.from_predictions(
    y_test, p[:, 1], n_bins=8, strategy="quantile", name="CGEns, calibrated"
)

# %%
# The exponential loss is least where scores are log-odds, so `AdaBoost` and its relatives have
# probabilities of their own. Few rounds leave them too even; many can make them too sure, where classes
# overlap. Here they do not, so far:
from kernsemble import AdaBoost

for n_rounds in (30, 300, 3000):
    boosted = AdaBoost(n_rounds).fit(X, y)
    own = log_loss(y_test, boosted.predict_proba(X_test))
    print(f"AdaBoost({n_rounds}): accuracy {boosted.score(X_test, y_test):.3f}, log loss {own:.3f}")
