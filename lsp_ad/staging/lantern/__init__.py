"""A small functional intermediate language for arrays, with recursion, and its way to machine code."""
