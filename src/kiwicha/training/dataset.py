"""The faces and non-faces that the demo model learns from, and how they are split."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from skimage import data

from kiwicha.training.topology import INPUT_SIZE

__all__ = ["FOLDS", "Labelled", "Split", "enlarge", "load_patches", "split_folds"]

FOLDS = 5
"""Number of parts of the cross-validation."""


@dataclass(frozen=True)
class Labelled:
    """Grey images and what they show.

    Parameters
    ----------
    images : numpy.ndarray
        uint8 ``[N, H, W]``.
    labels : numpy.ndarray
        int64 ``[N]``: 1 for a face, else 0.
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the images."""
        return len(self.images)

    def select(self, chosen: NDArray[np.bool_]) -> "Labelled":
        """Keep the images at which ``chosen``, bool ``[N]``, is true."""
        return Labelled(self.images[chosen], self.labels[chosen])


@dataclass(frozen=True)
class Split:
    """Patches to learn from and patches held out.

    Parameters
    ----------
    train, held_out : Labelled
        They share no patch.
    """

    train: Labelled
    held_out: Labelled


def load_patches() -> Labelled:
    """Load the 200 patches of scikit-image's ``lfw_subset``.

    Returns
    -------
    Labelled
        uint8 ``[200, 25, 25]``; the first hundred are faces, the others are not.
    """
    raw: NDArray[np.float64] = data.lfw_subset()
    images = np.rint(raw * 255).astype(np.uint8)
    return Labelled(images, (np.arange(len(images)) < len(images) // 2).astype(np.int64))


def split_folds(patches: Labelled, *, seed: int) -> list[Split]:
    """Split patches for cross-validation, each class evenly.

    Parameters
    ----------
    patches : Labelled
        All patches.
    seed : int
        Seed of the shuffle.

    Returns
    -------
    list of Split
        Each patch is held out in exactly one of the ``FOLDS`` splits.
    """
    rng = np.random.default_rng(seed)
    fold_of = np.empty(len(patches), np.int64)
    for label in np.unique(patches.labels):
        members = np.flatnonzero(patches.labels == label)
        fold_of[rng.permutation(members)] = np.arange(len(members)) % FOLDS
    return [
        Split(patches.select(fold_of != fold), patches.select(fold_of == fold))
        for fold in range(FOLDS)
    ]


def enlarge(patches: Labelled) -> Labelled:
    """Resize grey patches to the model's input size, 96 x 96, bilinearly.

    Parameters
    ----------
    patches : Labelled
        uint8 ``[N, H, W]``.

    Returns
    -------
    Labelled
        uint8 ``[N, 96, 96]``.
    """
    size, bilinear = (INPUT_SIZE, INPUT_SIZE), Image.Resampling.BILINEAR
    pictures = [np.asarray(Image.fromarray(p).resize(size, bilinear)) for p in patches.images]
    return Labelled(np.stack(pictures), patches.labels)
