"""The commands of the command line, one a file.

They import what they need when they run: ``kiwicha --help`` loads none of it.
"""
