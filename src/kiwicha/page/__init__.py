"""Reports as web pages: one self-contained file from the JSON of runs."""

from kiwicha.page.build import build_page
from kiwicha.page.files import read_files

__all__ = ["build_page", "read_files"]
