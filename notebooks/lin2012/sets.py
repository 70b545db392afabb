"""Labels of the datasets of lin2012."""

from __future__ import annotations

UCI_SETS = ("VOWEL", "ISOLET")
DIGIT_SETS = ("USPS", "PENDIGITS", "MNIST")
CIFAR_SETS = ("CIFAR10 GIST", "CIFAR10 pixels")
SCENE_SETS = ("SCENE15",)
SIGN_SETS = ("GTSRB",)
PAPER_SETS = (*UCI_SETS, *DIGIT_SETS, *CIFAR_SETS, *SCENE_SETS, *SIGN_SETS)
# AdaBoost.MO runs on the sets of figures 1 and 2.
MO_SETS = (*UCI_SETS, *DIGIT_SETS)
# Not in the paper: small sets on which everything can be shown to the last digit.
SMALL_SETS = ("wine", "iris", "segment", "vehicle")

STORED = {
    "VOWEL": "vowel", "ISOLET": "isolet", "USPS": "usps", "PENDIGITS": "pendigits", "MNIST": "mnist",
    **dict.fromkeys(CIFAR_SETS, "cifar10"), "SCENE15": "scene15", "GTSRB": "gtsrb",
    **{name: name for name in SMALL_SETS},
}  # fmt: skip
FEATURES = {"CIFAR10 GIST": "cifar10-gist", "SCENE15": "scene15-words", "GTSRB": "gtsrb-hog"}
