"""Small models of the gallery's architectures."""

from kiwicha.gallery.catalogue import ARCHITECTURES, GalleryModel, find

__all__ = ["NAMES", "tiny"]

NAMES = tuple(ARCHITECTURES)
_SIZES = {"inception3": 75, "keyword_mixer": 16}


def tiny(name: str, *, is_unsigned: bool = False) -> GalleryModel:
    """Return an architecture with few channels on a small input."""
    options = ",uint8" if is_unsigned else ""
    return find(f"{name}@{_SIZES.get(name, 32)},width=0.125{options}")
