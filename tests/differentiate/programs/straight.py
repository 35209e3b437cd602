"""Straight code: formulas, one after the other."""

from __future__ import annotations

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "product, sine and quotient",
        """
        def f(x, y):
            return x * y + np.sin(x) / y
        """,
        (normal(3), positive(3)),
        (normal(2, 3), positive(3)),
        (1.3, positive(3)),
        (normal(3), 0.6),
        (1.3, 0.7),
    ),
    *case(
        "a value used by later and by last lines",
        """
        def f(x, y):
            s = x.sum()
            return (x - y) ** 2 / s + s
        """,
        (positive(3), normal(3)),
    ),
    *case(
        "powers of and with parameters",
        """
        def f(x, p):
            return x**p + 2.0**p
        """,
        (positive(3), 1.7),
    ),
    *case(
        "remainder and arctan2",
        """
        def f(x):
            return x % 0.7 + np.arctan2(x, 2.0) + np.arctan2(1.0, x)
        """,
        (positive(3),),
    ),
    *case(
        "functions of math",
        """
        def f(x, y):
            return math.hypot(x, y) + math.log(x, 2.0) * math.exp(y)
        """,
        (0.8, 1.2),
    ),
    *case(
        "max, min and abs of numbers",
        """
        def f(x, y):
            return max(x, y, x * y) * min(x, 2.0) + abs(x)
        """,
        (0.8, 1.2),
        (2.8, -1.2),
    ),
    *case(
        "reductions of elementwise chains",
        """
        def f(x):
            return np.log1p(np.exp(x)).mean() + np.sqrt(np.abs(x)).sum()
        """,
        (positive(3),),
    ),
    *case(
        "the same name again and again",
        """
        def f(x):
            x = np.sin(x)
            x = x * x
            x = x + np.cos(x)
            return x * x
        """,
        (normal(3),),
        (0.4,),
    ),
    *case(
        "a parameter returned as it is",
        """
        def f(x):
            return x
        """,
        (normal(3),),
        (0.4,),
    ),
    *case(
        "constants of the module and of libraries",
        """
        RATE = 0.7
        LAYERS = [1.0, 2.0]

        def f(x):
            return RATE * x * math.pi + np.e * x**2 * LAYERS[1]
        """,
        (normal(3),),
    ),
    *case(
        "an unused parameter beside a used one",
        """
        def f(x, unused, y):
            return x * y
        """,
        (0.3, 1.0, normal(2)),
        wrt=("x", "y"),
    ),
    *case(
        "statistics: normal log-likelihood",
        """
        def f(mu, log_sigma, x):
            sigma = np.exp(log_sigma)
            z = (x - mu) / sigma
            return -0.5 * np.sum(z * z) - len(x) * (log_sigma + 0.5 * math.log(2.0 * math.pi))
        """,
        (0.3, -0.2, normal(8)),
    ),
    *case(
        "statistics: weighted ridge regression",
        '''
        def f(w, x, y, weights, penalty=0.1):
            """Weighted squared error.

            Parameters
            ----------
            w : ndarray, shape (d,)
            x : ndarray, shape (n, d)
            y, weights : ndarray, shapes (n,), (n,)
            penalty : float
            """
            r = x @ w - y
            return np.sum(weights * r**2) / np.sum(weights) + penalty * np.dot(w, w)
        ''',
        (normal(3), normal(5, 3), normal(5), positive(5), 0.3),
    ),
    *case(
        "statistics: correlation of two samples",
        """
        def f(x, y):
            dx = x - np.mean(x)
            dy = y - np.mean(y)
            return np.sum(dx * dy) / np.sqrt(np.sum(dx**2) * np.sum(dy**2))
        """,
        (normal(6), normal(6)),
    ),
    *case(
        "physics: Lennard-Jones energy of two atoms",
        """
        def f(a, b, epsilon=1.0, sigma=0.9):
            r2 = np.sum((a - b) ** 2)
            s6 = (sigma**2 / r2) ** 3
            return 4.0 * epsilon * (s6**2 - s6)
        """,
        (normal(3), normal(3), 0.8, 1.1),
    ),
    *case(
        "physics: Morse potential",
        """
        def f(r, depth, width, rest):
            decay = np.exp(-width * (r - rest))
            return depth * (1 - decay) ** 2
        """,
        (positive(4), 2.0, 0.7, 1.1),
    ),
    *case(
        "physics: Planck's law",
        """
        H = 6.62607015
        K = 1.380649

        def f(nu, t):
            return 2 * H * nu**3 / np.expm1(H * nu / (K * t))
        """,
        (positive(3), 1.4),
    ),
    *case(
        "physics: relativistic energy",
        """
        def f(m, v):
            gamma = 1 / math.sqrt(1 - v**2)
            return gamma * m, (gamma - 1) * m
        """,
        (1.2, 0.4),
    ),
    *case(
        "geometry: angle between two vectors",
        """
        def f(u, v):
            cosine = u @ v / (np.sqrt(u @ u) * np.sqrt(v @ v))
            return np.arccos(cosine)
        """,
        (normal(3), normal(3)),
    ),
    *case(
        "geometry: great-circle distance",
        """
        def f(lat1, lon1, lat2, lon2):
            a = np.sin((lat2 - lat1) / 2) ** 2
            b = np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
            return 2 * 6371.0 * np.arcsin(np.sqrt(a + b))
        """,
        (0.3, 0.1, 0.7, 0.5),
    ),
    *case(
        "geometry: area of a triangle by Heron's formula",
        """
        def f(a, b, c):
            s = (a + b + c) / 2
            return (s * (s - a) * (s - b) * (s - c)) ** 0.5
        """,
        (1.2, 1.1, 0.9),
    ),
    *case(
        "chemistry: Arrhenius rate and Michaelis-Menten flux",
        """
        def f(a, energy, t, s, km):
            k = a * np.exp(-energy / (8.314 * t))
            return k * s / (km + s)
        """,
        (2.0, 3.0, 1.5, positive(4), 0.7),
    ),
    *case(
        "finance: present value of payments",
        """
        def f(rate, payments):
            t = np.arange(len(payments))
            return np.sum(payments / (1 + rate) ** t)
        """,
        (0.05, positive(5)),
    ),
    *case(
        "learning: softmax cross-entropy",
        """
        def f(logits, target):
            shifted = logits - np.max(logits)
            logp = shifted - np.log(np.sum(np.exp(shifted)))
            return -np.sum(target * logp)
        """,
        (normal(5), positive(5)),
    ),
    *case(
        "learning: swish and its gate",
        """
        def f(x, beta):
            gate = 1 / (1 + np.exp(-beta * x))
            return x * gate
        """,
        (normal(5), 0.8),
        (normal(2, 2), normal(2)),
    ),
    *case(
        "engineering: deflection of a beam with units in SI",
        """
        def f(load, length, modulus, width, height):
            inertia = width * height**3 / 12
            x = np.linspace(0.0, 1.0, 5) * 0.5
            return load * x**2 * (3 * length - x) / (6 * modulus * inertia)
        """,
        (0.5, 2.0, 3.0, 0.4, 0.6),
    ),
    *case(
        "names that gradients would like to have",
        """
        def f(x, dx, df):
            dt = x * dx
            return dt * df + dx
        """,
        (0.4, 0.7, normal(3)),
    ),
    *case(
        "names of one letter, as the compiler likes them",
        """
        def f(x):
            s = x * 2.0
            s = s * s + x
            t = np.sin(s) * s
            t = t * s
            b = t + s
            b = b * t
            d = b - t
            d = d * d
            s = s * d
            return s * d
        """,
        (normal(3),),
    ),
    *case(
        "names with letters beyond ASCII",
        """
        def f(α, β):
            σ = α * np.exp(β)  # größer als null
            return σ * σ + β
        """,
        (0.4, normal(3)),
    ),
]
