"""# Counts, and text

Stumps ask whether a value exceeds a threshold, and all thresholds of a feature are searched at once. They
take a sparse matrix as it is: the zeros of a column are one group, and time and memory go with the entries.
Where more than about one entry in nine is not zero, dense counts take less: up to 255 they are bytes, and
as uint8 are used as they are.
"""

# %%
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from kernsemble import AdaBoost, CGEns


rng = np.random.default_rng(0)
words = [["wind", "rain", "cloud", "sun", "snow", "storm"], ["goal", "match", "team", "ball", "coach", "cup"]]
common = ["the", "of", "and", "in", "a", "to", "was", "for", "on", "it", "day", "year"]
labels = rng.integers(0, 2, 1500)
texts = [
    " ".join([*rng.choice(common, 12), *rng.choice(words[k], 3), *rng.choice(words[1 - k], 1)])
    for k in labels
]
texts, labels, new, new_labels = texts[:1000], labels[:1000], texts[1000:], labels[1000:]
for booster in (AdaBoost(50), CGEns(C=0.02, n_rounds=100, tol=None)):
    model = make_pipeline(CountVectorizer(), booster).fit(texts, labels)
    print(f"{type(booster).__name__:9s} accuracy on new texts {model.score(new, new_labels):.3f}")

# %%
# Which words decide:
names = model[0].get_feature_names_out()
importances = booster.feature_importances_
print(", ".join(names[j] for j in np.argsort(-importances)[:12]))
assert set(names[np.argsort(-importances)[:12]]) == {*words[0], *words[1]}
