"""The gradient of examples/newton.py, by hand."""


def newton_root_grad(a, tol=1e-10, dnewton_root=1.0):
    x = a
    k = 0
    xs = []
    while k < 100:
        xs.append(x)
        step = (x * x * x - a) / (3.0 * x * x)
        x = x - step
        if abs(step) < tol:
            break
        k += 1
    # backward
    dx = dnewton_root
    da = 0.0
    while xs:
        x = xs.pop()
        # x_new = 2/3 x + a / (3 x^2)
        da += dx / (3.0 * x * x)
        dx = dx * (2.0 / 3.0 - 2.0 * a / (3.0 * x * x * x))
    return da + dx


WRT = ("a",)


def inputs(rng):
    return {"a": 1.7}
