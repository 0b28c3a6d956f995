"""Blocks of columns, of channels and of rows: how an operation is done whose stripes do not fit."""
