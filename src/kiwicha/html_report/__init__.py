"""Reports as web pages: one self-contained file from the JSON of runs."""

from kiwicha.html_report.build import build_page
from kiwicha.html_report.files import read_files

__all__ = ["build_page", "read_files"]
