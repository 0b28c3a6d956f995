"""Committed results: what they measured, whether that is what the tree has now, how to renew them.

``python -m tools.results`` (``make results``) lists every file of ``docs/results``: whether it is
of the present hardware, firmware and Programs, why not, and how long renewing took last time. Each
file holds, under ``inputs``, hashes of what it measured, as the command wrote it; they compare
contents, so that a new name, a comment or a moved file makes nothing stale.

======================  ===========================================================================
`result`                A file of results and the kinds of files
`kinds`                 For each kind: its command, what it recorded, what it would record now
`catalogue`             All files of the project
`planned`               What is to be measured and has no file yet
`present`               ``docs/results/present.json``: what all files would record now
`bars`                  Figures that results must reach
======================  ===========================================================================
"""
