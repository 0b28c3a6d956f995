"""Netlists for boards, simulated beside their sources."""
