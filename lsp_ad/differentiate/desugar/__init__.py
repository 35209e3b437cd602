"""Constructs that stand for others are written out as these, until assignments, `if` and loops are left."""
