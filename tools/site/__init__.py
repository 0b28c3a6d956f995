"""The site: the documents, the sources' docstrings, charts of results, and notebooks."""
