"""Labelled data, and scores."""
