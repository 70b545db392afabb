from sklearn.utils.estimator_checks import parametrize_with_checks

from kernsemble import DRM


@parametrize_with_checks([DRM(3, random_state=0), DRM(3, q=2, kernel="gaussian", gamma=0.1, random_state=0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
