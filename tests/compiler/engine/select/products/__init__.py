"""Tests of products of matrices."""
