"""Tests, benches and proofs."""
