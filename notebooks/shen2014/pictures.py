"""Other readings of two vision rows of table III: CIFAR-10 with 1000 pictures a class, Scene15 by CENTRIST.

CENTRIST (Wu and Rehg 2011) is a histogram of census transforms: each pixel becomes eight bits, one for each
neighbor that is not brighter. A patch of 16 x 16 pixels has a histogram of 256 values; patches go to the
nearest of 200 words, and each of 31 windows has a histogram of words. Sobel is the same of the gradient's
size, with a code book of its own. Code books are learned on the training pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from kernsemble.data.features.store import load_features
from kernsemble.data.features.words import N_WORDS, nearest_words, pyramid_windows
from kernsemble.data.splits import official_split, split_per_class
from kernsemble.data.store import load
from kernsemble.trials.bench import Draw, powers_of_two
from kernsemble.trials.trial import Trial
from shen2014.classes import boost_classes, errors_of, fit_multiboost, fit_simplex, multiclass_draw
from shen2014.trials import Classes, Result, folds_of, paper

paper.exhibit("thousand", "CIFAR-10 with 1000 training pictures a class", metrics=("error", "curve", "C"))
paper.exhibit("searched", "MultiBoost, its C searched after 500 rounds", metrics=("error", "curve", "C"))
paper.exhibit("centrist", "Scene15 by census transforms", metrics=("error", "curve", "C"))

BOOSTED = ("AdaBoost.ECC", "AdaBoost.MH")
SEARCHED = ("MultiBoost", "CGENS-SLS")


def one_method(
    trial: Trial,
    method: str,
    data: Draw,
    *,
    classes: Classes,
    coloring: str,
    log2_C_sls: list[int],
    log2_C_exponential: list[int],
    tol: float,
) -> Result:
    """Return errors of a method of table III on some draw, its C searched as on the vision sets there."""
    checkpoints = classes.checkpoints
    if method in BOOSTED:
        fitted = boost_classes(method, data, checkpoints, coloring, trial.rng(method))
        curve = errors_of(fitted, data.X_test, data.y_test)
        return {"error": curve[-1], "curve": curve}
    kind, exponents = (
        (fit_simplex, log2_C_sls) if method == "CGENS-SLS" else (fit_multiboost, log2_C_exponential)
    )
    fit, Cs = partial(kind, tol=tol), powers_of_two(exponents)
    wrong = np.zeros(len(Cs))
    for train, held in folds_of(trial, data.y, classes.n_folds)[: classes.vision_search["folds"]]:
        part = data.part(train, held)
        for i, C in enumerate(Cs):
            wrong[i] += errors_of(fit(part, C, [classes.vision_search["rounds"]]), part.X_test, part.y_test)[
                0
            ]
    C = Cs[int(wrong.argmin())]
    curve = errors_of(fit(data, C, checkpoints), data.X_test, data.y_test)
    return {"error": curve[-1], "curve": curve, "C": C}


@paper.trials("thousand", methods=(*BOOSTED, *SEARCHED), datasets=("CIFAR10",))
def a_thousand_a_class(
    trial: Trial,
    *,
    n_a_class: int,
    classes: Classes,
    coloring: str,
    log2_C_sls: list[int],
    log2_C_exponential: list[int],
    tol: float,
) -> Result:
    """Errors on the provided test part after training on some pictures of each class, drawn at random."""
    data = load_features("cifar10-gist")
    train, test = official_split(data.part)
    rows, _ = split_per_class(data.y[train], n_a_class, "shen2014", "CIFAR10", trial.number)
    part = Draw(data.X[train[rows]], data.y[train[rows]], data.X[test], data.y[test])
    return one_method(
        trial, trial.method, part, classes=classes, coloring=coloring, log2_C_sls=log2_C_sls,
        log2_C_exponential=log2_C_exponential, tol=tol,
    )  # fmt: skip


LATE = "MultiBoost, C after all rounds"


@paper.trials("searched", methods=(LATE,), datasets=("MNIST", "USPS"))
def searched_late(
    trial: Trial,
    *,
    late_search: dict[str, int],
    classes: Classes,
    coloring: str,
    log2_C_sls: list[int],
    log2_C_exponential: list[int],
    tol: float,
) -> Result:
    """MultiBoost on the splits of table III, its C chosen after as many rounds as it then has."""
    return one_method(
        trial, "MultiBoost", multiclass_draw(trial), classes=replace(classes, vision_search=late_search),
        coloring=coloring, log2_C_sls=log2_C_sls, log2_C_exponential=log2_C_exponential, tol=tol,
    )  # fmt: skip


_STEP = 8  # patches of 16 x 16 pixels, every 8 pixels
_NEIGHBORS = [(i, j) for i, j in product(range(3), repeat=2) if (i, j) != (1, 1)]


def census(picture: np.ndarray) -> np.ndarray:
    """Return the census transform of inner pixels: a bit for each neighbor, 1 if not brighter."""
    height, width = picture.shape
    center, bits = picture[1:-1, 1:-1], np.zeros((height - 2, width - 2), dtype=np.uint8)
    for k, (i, j) in enumerate(_NEIGHBORS):
        bits |= (center >= picture[i : i + height - 2, j : j + width - 2]).astype(np.uint8) << np.uint8(7 - k)
    return bits


def sobel(picture: np.ndarray) -> np.ndarray:
    """Return the size of the gradient, by Sobel's filters."""
    rows = picture[:-2] + 2.0 * picture[1:-1] + picture[2:]
    columns = picture[:, :-2] + 2.0 * picture[:, 1:-1] + picture[:, 2:]
    return np.hypot(rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2])


def patches(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where patches lie, as fractions (x, y) of the picture, and their histograms (n, 256)."""
    n_rows, n_columns = (side // _STEP for side in bits.shape)
    cut = bits[: n_rows * _STEP, : n_columns * _STEP]
    block = np.arange(n_rows).repeat(_STEP)[:, None] * n_columns + np.arange(n_columns).repeat(_STEP)
    flat = np.bincount((block * 256 + cut).ravel(), minlength=n_rows * n_columns * 256)
    counts = flat.reshape(n_rows, n_columns, 256).astype(np.float32)
    whole = counts[:-1, :-1] + counts[1:, :-1] + counts[:-1, 1:] + counts[1:, 1:]
    y, x = np.mgrid[1:n_rows, 1:n_columns] * (_STEP / np.array(bits.shape)).reshape(2, 1, 1)
    return np.column_stack([x.ravel(), y.ravel()]), whole.reshape(-1, 256)


def pyramid(places: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the histograms of words of all windows, each of sum one."""
    low, high = pyramid_windows()[:, None, :2], pyramid_windows()[:, None, 2:]
    inside = ((places >= low) & (places < high)).all(axis=2)
    counts = np.array([np.bincount(words[some], minlength=N_WORDS) for some in inside], dtype=np.float32)
    return (counts / np.maximum(1.0, counts.sum(axis=1, keepdims=True))).ravel()


def words_of(
    pictures, learn_on: np.ndarray, channel: Callable[[np.ndarray], np.ndarray], seed: int, n_patches: int
) -> np.ndarray:
    """Return the features of all pictures, with a code book from patches of some."""
    rng = np.random.default_rng(seed)

    def described(rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return (patches(census(channel(pictures[int(row)].astype(np.float32)))) for row in rows)

    share = -(-n_patches // len(learn_on))
    drawn = np.concatenate([rng.permutation(found)[:share] for _, found in described(learn_on)])
    model = MiniBatchKMeans(N_WORDS, n_init=1, batch_size=4096, random_state=seed)
    with threadpool_limits(limits=1):  # sums of several threads differ in their last digits
        book = model.fit(drawn).cluster_centers_
    rows = (pyramid(places, nearest_words(found, book)) for places, found in described(range(len(pictures))))
    return np.array(list(rows), dtype=np.float32)


CHANNELS = {"census": (lambda picture: picture,), "census and Sobel": (lambda picture: picture, sobel)}
BY_CENSUS = tuple(f"{name}: {method}" for name in CHANNELS for method in (*BOOSTED, *SEARCHED))


@paper.trials("centrist", methods=BY_CENSUS, datasets=("Scene15",), together=True)
def by_census(
    trial: Trial,
    *,
    n_patches: int,
    classes: Classes,
    coloring: str,
    log2_C_sls: list[int],
    log2_C_exponential: list[int],
    tol: float,
) -> dict[str, Result]:
    """Errors of the four methods with census transforms alone, and with those of the gradient beside them."""
    scenes = load("scene15")
    train, test = split_per_class(scenes.y, 100, "shen2014", trial.dataset, trial.number)
    seed = trial.shared_seed("code book")
    channels = CHANNELS["census and Sobel"]
    found = [words_of(scenes.X, train, channel, seed, n_patches) for channel in channels]
    results = {}
    for name in CHANNELS:
        X = np.hstack(found[: len(CHANNELS[name])])
        data = Draw(X[train], scenes.y[train], X[test], scenes.y[test])
        for method in (*BOOSTED, *SEARCHED):
            results[f"{name}: {method}"] = one_method(
                trial, method, data, classes=classes, coloring=coloring, log2_C_sls=log2_C_sls,
                log2_C_exponential=log2_C_exponential, tol=tol,
            )  # fmt: skip
    return results
