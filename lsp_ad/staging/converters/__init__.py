"""From Python to Python that calls operators: one construct, one converter; `function.py` runs them."""
