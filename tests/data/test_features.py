"""Image features on images with known answers: gratings, rotations, constants; scikit-image as a judge."""

import numpy as np
import pytest

from kernsemble.data.features.gist import gabor_bank, gist, whiten
from kernsemble.data.features.hog import gtsrb_hog, hog
from kernsemble.data.features.words import (
    dense_sift,
    learn_codebook,
    nearest_words,
    pyramid_windows,
    spatial_pyramid,
)

SIDE = 64


def grating(angle, cycles, side=SIDE):
    """A grating whose wave vector has this angle (y down) and this many cycles a side."""
    y, x = np.mgrid[:side, :side] / side
    wave = np.sin(2 * np.pi * cycles * (x * np.cos(angle) + y * np.sin(angle)))
    return (127.5 + 100 * wave).astype(np.uint8)


@pytest.fixture
def textures(rng):
    """Smooth random images."""
    noise = rng.standard_normal((3, SIDE, SIDE))
    spectrum = np.fft.fft2(noise) * np.exp(-(np.hypot(*np.meshgrid(*[np.fft.fftfreq(SIDE)] * 2)) ** 2) * 60)
    images = np.fft.ifft2(spectrum).real
    return np.uint8(np.clip(127 + 60 * images / images.std(), 0, 255))


class TestGist:
    @pytest.mark.parametrize("k", range(8))
    def test_gratings_excite_their_own_orientation(self, k):
        angle = np.pi * k / 8
        energies = gist(grating(angle, 13)[None]).reshape(4, 8, 16).mean(axis=2)
        # A grating holds both the wave vector and its opposite: filter j answers to the angle -j pi / 8.
        assert energies.sum(axis=0).argmax() == -k % 8
        assert energies[:, -k % 8].max() > 4 * energies[:, (4 - k) % 8].max()

    @pytest.mark.parametrize(("scale", "frequency"), [(0, 0.3), (1, 0.162), (2, 0.0877), (3, 0.0474)])
    def test_gratings_excite_their_own_scale(self, scale, frequency):
        energies = gist(grating(0.0, round(frequency * SIDE))[None]).reshape(4, 8, 16).mean(axis=2)
        assert energies[:, 0].argmax() == scale

    def test_half_an_image_excites_half_the_grid(self):
        image = np.full((SIDE, SIDE), 127, dtype=np.uint8)
        image[:, : SIDE // 2] = grating(0.0, 13)[:, : SIDE // 2]
        blocks = gist(image[None]).reshape(32, 4, 4).sum(axis=0)
        assert blocks[:, 0].min() > 3 * blocks[:, 3].max()

    def test_constant_images_give_zeros(self):
        for value in (0, 90, 255):
            assert np.abs(gist(np.full((1, 32, 32), value, dtype=np.uint8))).max() < 1e-4

    def test_turning_by_a_right_angle_permutes(self, textures):
        """Orientation j becomes j + 4 of 8, and the grid turns along."""
        straight = gist(textures).reshape(-1, 4, 8, 4, 4)
        turned = gist(np.rot90(textures, axes=(1, 2))).reshape(-1, 4, 8, 4, 4)
        expected = np.rot90(np.roll(straight, 4, axis=2), axes=(3, 4))
        # Filters are one-sided and of even size: a quarter turn is exact up to the border's mirror.
        np.testing.assert_allclose(turned, expected, rtol=0.08, atol=2e-3)

    def test_brightness_hardly_matters(self, textures):
        """The logarithm turns a factor into a constant, which whitening removes."""
        bright = textures.astype(np.float32) + 50
        np.testing.assert_allclose(gist(2 * bright), gist(bright), atol=2e-3)

    def test_color_is_averaged_and_images_do_not_mix(self, textures):
        color = np.repeat(textures[..., None], 3, axis=3)
        np.testing.assert_allclose(gist(color), gist(textures), atol=1e-6)
        np.testing.assert_array_equal(gist(textures)[1:2], gist(textures[1:2]))

    def test_bank_peaks_where_it_should(self):
        bank = gabor_bank(128, (8, 4))
        assert bank.shape == (12, 128, 128)
        fx, fy = np.meshgrid(np.fft.fftfreq(128), np.fft.fftfreq(128))
        for j in range(12):
            scale, turn = (0, np.pi * j / 8) if j < 8 else (1, np.pi * (j - 8) / 4)
            row, column = np.unravel_index(bank[j].argmax(), bank[j].shape)
            peak = np.array([fx[row, column], fy[row, column]])
            expected = 0.3 / 1.85**scale * np.array([np.cos(turn), -np.sin(turn)])
            assert np.abs(peak - expected).max() < 1 / 128

    def test_whitening(self, textures):
        white = whiten(textures.astype(np.float64))
        assert white.shape == textures.shape
        assert np.abs(white.mean(axis=(1, 2))).max() < 0.15
        assert 0.4 < white.std() < 1.5

    def test_shapes(self):
        assert gist(np.zeros((2, 32, 32)), orientations=(8, 8, 4)).shape == (2, 320)
        for shape in ((2, 32, 40), (32, 32)):
            with pytest.raises(ValueError, match="images must"):
                gist(np.zeros(shape))
        with pytest.raises(ValueError, match="grid must divide"):
            gist(np.zeros((1, 30, 30)))


class TestHog:
    @pytest.mark.parametrize(("cell", "n_orientations", "block"), [(5, 8, 2), (4, 9, 2), (8, 6, 3)])
    def test_equals_scikit_image(self, cell, n_orientations, block, rng):
        from skimage.feature import hog as judge

        images = rng.integers(0, 256, (3, 40, 43), dtype=np.uint8)
        options = {"orientations": n_orientations, "pixels_per_cell": (cell, cell), "block_norm": "L2-Hys"}
        expected = [judge(image, cells_per_block=(block, block), **options) for image in images]
        np.testing.assert_allclose(hog(images, cell, n_orientations, block=block), expected, atol=1e-6)

    @pytest.mark.parametrize("k", range(8))
    def test_ramps_fill_their_own_bin(self, k):
        y, x = np.mgrid[:40, :40]
        for signed, width in ((False, np.pi / 8), (True, np.pi / 4)):
            angle = (k + 0.5) * width
            ramp = 10 * (x * np.cos(angle) + y * np.sin(angle)) + 500
            histograms = hog(ramp[None], 5, 8, signed=signed).reshape(7, 7, 4, 8)
            # Away from the border, where one of the differences is missing, one bin holds everything.
            inner = histograms[2:5, 2:5]
            assert (inner.argmax(axis=3) == k).all()
            np.testing.assert_allclose(inner[..., k], 0.5, atol=1e-6)

    def test_opposite_contrast(self, textures):
        small = textures[:, :40, :40]
        np.testing.assert_allclose(hog(255 - small, 5, 8), hog(small, 5, 8), atol=1e-6)
        flipped = hog(255 - small, 5, 8, signed=True).reshape(-1, 8)
        straight = hog(small, 5, 8, signed=True).reshape(-1, 8)
        np.testing.assert_allclose(flipped, np.roll(straight, 4, axis=1), atol=1e-6)
        # Unsigned bins of 4 are the signed bins of 8, opposite ones added, before blocks are scaled.
        assert not np.allclose(flipped, straight, atol=1e-3)

    def test_turning_by_half_a_circle_permutes(self, textures):
        small = textures[:, :40, :40]
        straight = hog(small, 5, 8).reshape(-1, 7, 7, 2, 2, 8)
        turned = hog(small[:, ::-1, ::-1], 5, 8).reshape(-1, 7, 7, 2, 2, 8)
        np.testing.assert_allclose(turned, straight[:, ::-1, ::-1, ::-1, ::-1], atol=1e-6)

    def test_constant_images_give_zeros(self):
        assert not gtsrb_hog(np.full((1, 40, 40), 200, dtype=np.uint8)).any()

    def test_the_three_sets(self, textures):
        small = textures[:, :40, :40]
        features = gtsrb_hog(small)
        assert features.shape == (3, 6052)
        np.testing.assert_array_equal(features[:, :1568], hog(small, 5, 8))
        np.testing.assert_array_equal(features[:, 1568:3136], hog(small, 5, 8, signed=True))
        np.testing.assert_array_equal(features[:, 3136:], hog(small, 4, 9))

    def test_shape_errors(self):
        with pytest.raises(ValueError, match="at least one block"):
            hog(np.zeros((1, 7, 40)), 5, 8)


class TestWords:
    @pytest.mark.parametrize("k", range(8))
    def test_ramps_fill_their_own_bin_of_sift(self, k):
        y, x = np.mgrid[:64, :64]
        ramp = np.uint8(127 + 1.4 * ((x - 32) * np.cos(np.pi * k / 4) + (y - 32) * np.sin(np.pi * k / 4)))
        points, descriptors = dense_sift(ramp)
        middle = descriptors[np.abs(points - 32).max(axis=1) <= 8].reshape(-1, 16, 8)
        # OpenCV's gradients have y up: the bins run the other way round.
        assert (middle.sum(axis=1).argmax(axis=1) == -k % 8).all()

    def test_grid(self):
        points, descriptors = dense_sift(np.zeros((40, 56), dtype=np.uint8))
        assert points[0].tolist() == [8, 8]
        assert points[-1].tolist() == [48, 32]
        assert len(points) == 6 * 4
        assert not descriptors.any()
        for image in (np.zeros((40, 12), dtype=np.uint8), np.zeros((40, 40))):
            with pytest.raises(ValueError, match="image must be uint8"):
                dense_sift(image)

    def test_windows_tile_the_image(self):
        windows = pyramid_windows()
        assert windows.shape == (31, 4)
        assert len(np.unique(windows, axis=0)) == 31
        areas = (windows[:, 2] - windows[:, 0]) * (windows[:, 3] - windows[:, 1])
        assert np.bincount((16 * areas).round().astype(int), minlength=17)[[16, 4, 1]].tolist() == [1, 5, 25]
        assert windows.min() == 0
        assert windows.max() == 1
        # Without those in between, each level covers each point once.
        place = np.array([0.3, 0.85])
        inside = ((windows[:, :2] <= place) & (place < windows[:, 2:])).all(axis=1)
        assert inside[0]
        assert inside[1:5].sum() == 1
        assert inside[6:22].sum() == 1

    def test_histograms_count_words_where_they_are(self):
        """Left half flat, right half textured: two words, each on its side."""
        image = np.full((128, 128), 100, dtype=np.uint8)
        image[:, 64:] = grating(0.0, 16, 128)[:, 64:]
        points, descriptors = dense_sift(image)
        codebook = np.stack([np.zeros(128, dtype=np.float32), descriptors[points[:, 0] > 90].mean(axis=0)])
        pyramid = spatial_pyramid([image], codebook).reshape(31, 2)
        np.testing.assert_allclose(pyramid.sum(axis=1), 1, atol=1e-6)
        windows = pyramid_windows()
        assert (pyramid[windows[:, 2] <= 0.45, 0] == 1).all()
        assert (pyramid[windows[:, 0] >= 0.55, 1] == 1).all()
        assert 0.3 < pyramid[0, 0] < 0.7

    def test_each_window_is_the_histogram_of_its_key_points(self, textures):
        codebook = dense_sift(textures[0])[1][::5]
        pyramid = spatial_pyramid(textures, codebook).reshape(3, 31, len(codebook))
        points, descriptors = dense_sift(textures[2])
        words = ((descriptors[:, None] - codebook) ** 2).sum(axis=2).argmin(axis=1)
        for k, (left, top, right, bottom) in enumerate(pyramid_windows() * SIDE):
            chosen = [
                w for (x, y), w in zip(points, words, strict=True) if left <= x < right and top <= y < bottom
            ]
            expected = np.bincount(chosen, minlength=len(codebook)) / len(chosen)
            np.testing.assert_allclose(pyramid[2, k], expected, atol=1e-6)

    def test_codebook_is_deterministic_and_has_the_size(self, textures):
        one = learn_codebook(textures, n_words=7, n_descriptors=90)
        np.testing.assert_array_equal(one, learn_codebook(textures, n_words=7, n_descriptors=90))
        assert one.shape == (7, 128)
        assert not np.array_equal(one, learn_codebook(textures, n_words=7, n_descriptors=90, random_state=1))

    def test_nearest_words(self, rng):
        descriptors, codebook = rng.standard_normal((40, 5)), rng.standard_normal((6, 5))
        expected = [min(range(6), key=lambda j: ((d - codebook[j]) ** 2).sum()) for d in descriptors]
        assert nearest_words(descriptors, codebook).tolist() == expected

    def test_default_size(self, textures):
        codebook = np.repeat(dense_sift(textures[0])[1], 10, axis=0)[:200]
        assert spatial_pyramid(textures[:1], codebook).shape == (1, 6200)
