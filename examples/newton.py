"""A cube root by Newton's method: a loop that ends when its steps are small."""


def newton_root(a, tol=1e-10):
    """The cube root of a, from the starting point a."""
    x = a
    k = 0
    while k < 100:
        step = (x * x * x - a) / (3.0 * x * x)
        x = x - step
        if abs(step) < tol:
            break
        k += 1
    return x
