"""Stripes: the rows that each job of an operation computes, and what they read and write."""
