"""Kernels of the CPU: a file each, or a family of them, with all that Python knows of it.

The C code has the same name, in ``firmware/kernels``. `kiwicha.kernels.registry` finds the files.
"""
