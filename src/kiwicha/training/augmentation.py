"""Random pictures composed from the small patches, for training and calibration."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kiwicha.training.dataset import Labelled
from kiwicha.training.topology import INPUT_SIZE

__all__ = ["Composer"]

BLOCK = 5
"""Height and width of the blocks that a scrambled face is cut into; it divides 25."""


@dataclass(frozen=True)
class Composer:
    """A source of random training pictures.

    A picture is a patch, scaled, turned, mirrored and placed on a background of non-face patches
    or noise, then changed in light, contrast and sharpness. Pictures without a face are made the
    same way from non-face patches, noise and faces whose blocks are shuffled, so that neither seams
    nor noise tell the classes apart.

    Parameters
    ----------
    faces, others : torch.Tensor
        float32 ``[N, 1, 25, 25]``, 0 to 1.
    generator : torch.Generator
        The source of randomness.
    """

    faces: Tensor
    others: Tensor
    generator: torch.Generator

    @classmethod
    def of(cls, patches: Labelled, seed: int) -> "Composer":
        """Make a source of pictures from patches of both classes."""
        images = torch.from_numpy(patches.images[:, None].astype(np.float32) / 255)
        labels = torch.from_numpy(patches.labels)
        return cls(images[labels == 1], images[labels == 0], torch.Generator().manual_seed(seed))

    def compose_labelled(self, count: int) -> Labelled:
        """Make pictures as ``compose`` does, as uint8 ``[count, 96, 96]``."""
        pictures, labels = self.compose(count)
        return Labelled(pictures[:, 0].numpy().astype(np.uint8), labels.numpy())

    def compose(self, count: int) -> tuple[Tensor, Tensor]:
        """Make pictures, half of them with a face.

        Parameters
        ----------
        count : int
            Number of pictures, even.

        Returns
        -------
        pictures : torch.Tensor
            float32 ``[count, 1, 96, 96]``, whole numbers from 0 to 255.
        labels : torch.Tensor
            int64 ``[count]``: 1 for a face, else 0.
        """
        half = count // 2
        patches = torch.cat([self._pick(self.faces, half), self._pick_negative(half)])
        labels = torch.cat([
            torch.ones(half, dtype=torch.int64),
            torch.zeros(half, dtype=torch.int64),
        ])
        pictures = self._place(patches, self._background(count))
        return torch.round(self._develop(pictures) * 255), labels

    def _uniform(self, count: int, low: float, high: float) -> Tensor:
        """Draw ``[count, 1, 1, 1]`` numbers evenly from low to high."""
        return torch.rand(count, 1, 1, 1, generator=self.generator) * (high - low) + low

    def _pick(self, patches: Tensor, count: int) -> Tensor:
        """Draw patches with replacement."""
        return patches[torch.randint(len(patches), (count,), generator=self.generator)]

    def _choose(self, share: float, chosen: Tensor, otherwise: Tensor) -> Tensor:
        """Take each row from ``chosen`` with the given probability."""
        return torch.where(self._uniform(len(chosen), 0, 1) < share, chosen, otherwise)

    def _noise(self, count: int, size: int) -> Tensor:
        """Draw cloudy noise with details of random coarseness."""
        total = self._uniform(count, 0, 1).expand(count, 1, size, size)
        for cells in (2, 5, 12, size):
            grid = torch.randn(count, 1, cells, cells, generator=self.generator)
            layer = functional.interpolate(grid, (size, size), mode="bilinear")
            total = total + layer * self._uniform(count, 0, 1) ** 3 * 0.4
        return total.clamp(0, 1)

    def _scramble(self, patches: Tensor) -> Tensor:
        """Shuffle the blocks of each patch."""
        count, _, height, width = patches.shape
        rows, columns = height // BLOCK, width // BLOCK
        blocks = patches.reshape(count, rows, BLOCK, columns, BLOCK).transpose(2, 3)
        blocks = blocks.reshape(count, rows * columns, BLOCK, BLOCK)
        order = torch.rand(count, rows * columns, generator=self.generator).argsort(1)
        shuffled = blocks[torch.arange(count)[:, None], order]
        shuffled = shuffled.reshape(count, rows, columns, BLOCK, BLOCK).transpose(2, 3)
        return shuffled.reshape(count, 1, height, width)

    def _pick_negative(self, count: int) -> Tensor:
        """Draw patches without a face."""
        size = self.others.shape[-1]
        made = self._choose(
            0.5, self._scramble(self._pick(self.faces, count)), self._noise(count, size)
        )
        return self._choose(0.6, self._pick(self.others, count), made)

    def _background(self, count: int) -> Tensor:
        """Fill the frame with a magnified non-face patch or noise; half get a patch on top."""
        others = self._pick(self.others, count)
        scale, shift = self._uniform(count, 1.5, 4), self._uniform(count, -0.5, 0.5)
        magnified, _ = _warp(others, scale, shift, shift.flip(0), torch.zeros_like(shift), shift)
        plain = self._choose(0.5, magnified, self._noise(count, INPUT_SIZE))
        return self._choose(0.5, self._place(self._pick_negative(count), plain), plain)

    def _place(self, patches: Tensor, backgrounds: Tensor) -> Tensor:
        """Put each patch somewhere into its background; half of them fill the frame."""
        count = len(patches)
        fills = self._uniform(count, 0, 1) < 0.5
        scale = torch.where(fills, self._uniform(count, 0.95, 1.25), self._uniform(count, 0.5, 1))
        # A patch smaller than the frame stays inside it.
        reach = torch.where(fills, torch.full_like(scale, 0.15), 1.05 - scale)
        right, down = (reach * self._uniform(count, -1, 1) for _ in range(2))
        angle = self._uniform(count, -math.pi / 12, math.pi / 12)
        mirror = self._uniform(count, -1, 1)
        placed, mask = _warp(patches, scale, right, down, angle, mirror)
        return placed * mask + backgrounds * (1 - mask)

    def _develop(self, pictures: Tensor) -> Tensor:
        """Change sharpness, light and contrast, and add grain."""
        count = len(pictures)
        padded = functional.pad(pictures, (3, 3, 3, 3), mode="replicate")
        blurred = functional.avg_pool2d(functional.avg_pool2d(padded, (1, 7), 1), (7, 1), 1)
        # Positive: sharper than the patch. Negative: blurred.
        pictures = pictures + (pictures - blurred) * self._uniform(count, -0.9, 1.5)
        gradient = torch.randn(count, 1, 2, 2, generator=self.generator) * 0.1
        light = functional.interpolate(gradient, (INPUT_SIZE, INPUT_SIZE), mode="bilinear")
        pictures = (pictures - 0.5) * self._uniform(count, 0.5, 1.5) + 0.5
        pictures = pictures + light + self._uniform(count, -0.2, 0.2)
        grain = torch.randn(pictures.shape, generator=self.generator)
        return (pictures + grain * self._uniform(count, 0, 0.2) ** 2).clamp(0, 1)


def _warp(
    patches: Tensor, scale: Tensor, right: Tensor, down: Tensor, angle: Tensor, mirror: Tensor
) -> tuple[Tensor, Tensor]:
    """Draw patches into frames of the input size.

    Parameters
    ----------
    patches : torch.Tensor
        float32 ``[N, 1, H, W]``.
    scale, right, down, angle, mirror : torch.Tensor
        float32 ``[N, 1, 1, 1]``: size relative to the frame, shift in half frames, turn in
        radians; a negative ``mirror`` exchanges left and right.

    Returns
    -------
    frames, masks : torch.Tensor
        float32 ``[N, 1, 96, 96]``; the mask is 1 inside the patch, 0 outside and soft at its edge.
    """
    count = len(patches)
    cos, sin = angle.cos() / scale, angle.sin() / scale
    sign = torch.where(mirror < 0, -1.0, 1.0)
    first = torch.cat([sign * cos, sign * sin, -sign * (cos * right + sin * down)], 3)
    second = torch.cat([-sin, cos, sin * right - cos * down], 3)
    theta = torch.cat([first, second], 2).reshape(count, 2, 3)
    grid = functional.affine_grid(theta, [count, 1, INPUT_SIZE, INPUT_SIZE], align_corners=False)
    frames = functional.grid_sample(patches, grid, padding_mode="border", align_corners=False)
    inside = 1 - grid.abs().amax(3)
    return frames, (inside * 12).clamp(0, 1)[:, None]
