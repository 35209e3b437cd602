"""From programs to machine code: Python text in the subset that Numba compiles, and Numba."""
