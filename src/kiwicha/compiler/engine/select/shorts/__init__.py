"""Layers of int16 on engines that have jobs for them."""
