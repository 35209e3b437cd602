"""Programs that compute with complex numbers on the way from real input to real output."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "the power of a spectrum",
        """
        def f(x):
            X = np.fft.fft(x)
            return np.sum(np.abs(X) ** 2 * np.arange(len(x)))
        """,
        (normal(6),),
        (normal(5),),
    ),
    *case(
        "a filter of the frequencies, whose response is a parameter",
        """
        def f(x, h):
            X = np.fft.rfft(x)
            y = np.fft.irfft(X * h, len(x))
            return np.sum(y ** 3)
        """,
        (normal(6), normal(4)),
        (normal(7), normal(4)),
    ),
    *case(
        "a response that is complex and given",
        """
        def f(x, k):
            h = np.exp(-1j * k)
            X = np.fft.fft(x) * h
            return np.sum(np.fft.ifft(X).real ** 2 * x)
        """,
        (normal(5), normal(5)),
        wrt=("x",),
    ),
    *case(
        "waves",
        """
        def f(x, k):
            z = np.exp(1j * k * x) + 0.5 * x
            return np.sum(z.real ** 2 * x) + np.sum(z.imag * k) + np.sum(np.angle(z * (2 + 1j)))
        """,
        (normal(4), normal(4)),
        (normal(3, 2), 0.7),
        (0.4, -0.3),
    ),
    *case(
        "functions of complex numbers",
        """
        def f(x):
            z = x + 1j * x[::-1] ** 2
            w = np.sin(z) * np.cosh(0.3 * z) / (3.0 + z) - np.sqrt(z + 4) * np.log(z + 5j) + z ** 3
            v = np.exp(z * 0.1) ** 2 + np.tan(z * 0.2) + 1 / (w + 10) - np.square(w) * 1e-3
            return np.sum(np.abs(w)) + np.sum(np.real(v * np.conj(w)))
        """,
        (normal(4),),
    ),
    *case(
        "a system of equations with complex coefficients",
        """
        def f(a, b):
            m = a @ a.T + 1j * a + 3 * np.eye(len(a))
            y = np.linalg.solve(m, b * (1 - 2j))
            return np.sum(np.abs(y) ** 2) + np.abs(np.linalg.det(m)) + np.sum(np.linalg.inv(m).imag)
        """,
        (normal(3, 3), normal(3)),
        (normal(2, 2), normal(2)),
    ),
    *case(
        "real times complex matrices",
        """
        def f(x, k):
            n = len(x)
            t = np.arange(n)
            w = np.exp(-2j * np.pi * np.outer(t, t) / n)
            X = w @ x
            y = x @ (w * k)
            p = (X * X.conj()).real / n
            return np.sum(p * np.log(p)) + np.linalg.norm(y) + np.var(X) + np.std(y)
        """,
        (positive(5), 0.8),
    ),
    *case(
        "a complex number in a loop",
        """
        def f(x):
            z = 1.0 + 0j
            s = 0.0
            for i in range(len(x)):
                z = z * (x[i] + 1j * i) + 0.3
                if abs(z) > 2.0:
                    z = z / 2
                s = s + abs(z)
            return s + z.imag
        """,
        (normal(5),),
    ),
    *case(
        "real on one path, complex on the other",
        """
        def f(x, n):
            if n > 0:
                z = x * 2.0
            else:
                z = np.exp(1j * x)
            return np.sum(np.abs(z * (1 + 2j)) ** 2) + np.sum(np.real(z * z))
        """,
        (normal(3), 1),
        (normal(3), -1),
        wrt=("x",),
    ),
    *case(
        "a polynomial at complex points",
        """
        def f(c, r):
            z = r * np.exp(2j * np.pi * np.linspace(0, 1, 5))
            p = 0.0
            for i in range(len(c)):
                p = p * z + c[i]
            return np.sum(np.abs(p) ** 2)
        """,
        (normal(4), 0.9),
    ),
    *case(
        "a complex step",
        """
        def f(x):
            h = 1e-20
            z = np.asarray(x, dtype=complex) + 1j * h
            return np.sum((np.sin(z) * z).imag / h)
        """,
        (normal(3),),
    ),
    *case(
        "built-in complex numbers",
        """
        def f(a: float, b: float):
            z = complex(a, 2 * b)
            w = z ** 3 + z.conjugate() * 2
            return abs(w) + w.imag * z.real
        """,
        (0.7, -0.4),
    ),
    *case(
        "lists and tuples of complex arrays",
        """
        def f(x, y):
            zs = [x * 1j, y + 2j]
            a, b = zs[0] * y, np.stack([zs[1], zs[0]])
            s = 0.0
            for z in zs:
                s = s + np.sum(np.abs(z * z))
            return s + np.sum(np.abs(b.sum(axis=0) * a)) + np.concatenate([a, zs[1]])[1].imag
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "pieces, sums and shapes of complex arrays",
        """
        def f(x):
            z = x.reshape(2, -1) * np.array([[1.0], [1j]])
            w = z.T[1:] @ z[:, ::-1] + np.sum(z, axis=0)[None, :] + np.mean(z) - z[0, 1]
            q = np.where(w.real > 0, w, 2j * w)
            return np.abs(q).sum() + np.abs(np.cumsum(z[1])[-1]) + np.prod(z[0] + 1j).real
        """,
        (normal(6),),
    ),
    *case(
        "spectra in two dimensions",
        """
        def f(u, dt):
            k = np.fft.fftfreq(u.shape[0])[:, None] ** 2 + np.fft.fftfreq(u.shape[1]) ** 2
            for step in range(3):
                u = np.fft.ifft2(np.fft.fft2(u) * np.exp(-k * dt)).real - dt * u ** 3
            return np.sum(u ** 2) + np.abs(np.fft.fftshift(np.fft.rfft2(u))).max()
        """,
        (normal(4, 3), 0.1),
    ),
    *case(
        "a constant of the module that is complex",
        """
        ROOT = np.exp(2j * np.pi / 3)


        def f(x):
            return np.sum(np.abs(x * ROOT + x * x))
        """,
        (normal(3),),
    ),
    *case(
        "a large function with complex numbers inside",
        """
        def power(x, k):
            if k > 3:
                return x * 1.0
            return np.abs(np.fft.fft(x)) * k


        def f(x):
            s = 0.0
            for k in range(1, 6):
                s = s + np.sum(power(x * k, k) * x)
            return s
        """,
        (normal(4),),
    ),
    *case(
        "chosen, repeated, joined and contracted complex arrays",
        """
        def f(x):
            z = x * (1 + 2j)
            a = np.take(z, [0, 2, 2]) * np.repeat(z[:1], 3) + np.tile(z[:1], 3)
            b = np.einsum('i,j->ij', a, np.conj(z[:2])) + np.tensordot(a, z[:2], 0) + np.outer(a, z[:2])
            c = np.hstack([a, z, np.pad(z, 1)]) * np.cumprod(np.append(a, np.hstack([z, z, z[:2]])) * 0.5)
            return np.sum(np.abs(b) ** 2) + np.sum(c.imag) + np.kron(z, b[0]).real.sum()
        """,
        (normal(3),),
    ),
]
