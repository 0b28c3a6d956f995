"""Small models of the gallery's architectures."""

import math

import numpy as np
import tflite

from kiwicha.gallery.catalogue import ARCHITECTURES, GalleryModel, find
from tests.support.oracle.oracle import Case

__all__ = ["NAMES", "case", "small", "tiny"]

NAMES = tuple(ARCHITECTURES)
_SIZES = {"inception3": 75, "keyword_mixer": 16, "keyword_transformer": 16}
"""Of architectures that 32 is too small for, or that have another measure."""


def tiny(name: str, *, is_unsigned: bool = False) -> GalleryModel:
    """Return an architecture with few channels on the smallest input."""
    options = ",uint8" if is_unsigned else ""
    return find(f"{name}@{_SIZES.get(name, 32)},width=0.125{options}")


def small(name: str) -> GalleryModel:
    """Return an architecture with half of its channels on an input of 96 pixels."""
    return find(f"{name}@96,width=0.5")


def case(model: GalleryModel) -> Case:
    """Return a model with random bytes for its input."""
    content = model.content()
    graph = tflite.Model.GetRootAs(content, 0).Subgraphs(0)
    shape = graph.Tensors(graph.Inputs(0)).ShapeAsNumpy()
    raw = np.random.default_rng(5).bytes(math.prod(shape))
    dtype = np.uint8 if model.is_unsigned else np.int8
    return Case(content, (np.frombuffer(raw, dtype).reshape(shape),))
