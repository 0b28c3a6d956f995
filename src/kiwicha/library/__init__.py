"""Compiled models as files that C and C++ projects link: sources, runtime, and what is known."""

from kiwicha.library.files import library, pack
from kiwicha.library.metadata import METADATA_NAME, metadata
from kiwicha.library.model_code import model_files
from kiwicha.library.sdk import sdk

__all__ = ["METADATA_NAME", "library", "metadata", "model_files", "pack", "sdk"]
