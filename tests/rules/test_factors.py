"""Functions of matrices that return tuples, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracle

HEAD = "import numpy as np\n\n\ndef f(x):\n"
SQUARE, TALL, WIDE, MANY = (3, 3), (4, 3), (3, 4), (2, 3, 3)

PROGRAMS = {
    "slogdet": ("sign, value = np.linalg.slogdet(x)", "np.sum(value * value) * np.sum(sign)", (SQUARE, MANY)),
    "slogdet by index": ("", "np.sum(np.linalg.slogdet(x)[1])", (SQUARE, MANY)),
    "eigh": (
        "w, v = np.linalg.eigh(x)",
        "np.sum(w ** 3) + np.sum(v ** 4) + np.sum((v @ v) ** 2)",
        (SQUARE, MANY),
    ),
    "eigenvalues alone": ("w, v = np.linalg.eigh(x)", "np.sum(w ** 3)", (SQUARE,)),
    "svd": (
        "u, s, vh = np.linalg.svd(x, full_matrices=False)",
        "np.sum(s ** 3) + np.sum(u ** 4) + np.sum(vh ** 4) + np.sum((u @ vh) ** 3)",
        (SQUARE, TALL, WIDE, MANY),
    ),
    "singular values alone": (
        "u, s, vh = np.linalg.svd(x, full_matrices=False)",
        "np.sum(np.log(s))",
        (SQUARE, TALL, WIDE),
    ),
    "qr": ("q, r = np.linalg.qr(x)", "np.sum(q ** 3) + np.sum(r ** 3)", (SQUARE, TALL, MANY)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient(name):
    line, result, shapes = PROGRAMS[name]
    body = f"    {line}\n" if line else ""
    for seed, shape in enumerate(shapes):
        x = np.random.default_rng(seed).normal(size=shape) + 2.0 * np.eye(*shape[-2:])
        oracle.assert_gradient(f"{HEAD}{body}    return {result}\n", x, tolerance=1e-5)
        if name.split()[0] in ("slogdet", "eigh", "eigenvalues"):
            oracle.assert_jvp(f"{HEAD}{body}    return {result}\n", x, tolerance=1e-5)


def test_what_is_refused():
    for line in ("u, s, vh = np.linalg.svd(x)", "u, s, vh = np.linalg.svd(x, True)"):
        with pytest.raises(oracle.Refused):
            oracle.generate(f"{HEAD}    {line}\n    return np.sum(s)\n")
    _, text = oracle.generate(f"{HEAD}    q, r = np.linalg.qr(x)\n    return np.sum(r)\n")
    with pytest.raises(ValueError, match="rows"):
        oracle.run(text)["f_grad"](np.ones(WIDE))
