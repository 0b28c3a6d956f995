"""Kiwicha: an open int8 neural-network accelerator and everything that makes a model run on it."""
