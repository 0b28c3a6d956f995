"""Boards, one file each."""
