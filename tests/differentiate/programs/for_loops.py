"""`for` over ranges, arrays, lists, zip and enumerate; nested ones; with no iteration at all."""

from __future__ import annotations

import numpy as np

from tests.differentiate.programs.case import case, normal, positive

CASES = [
    *case(
        "a value carried from iteration to iteration",
        """
        def f(x):
            y = x
            for i in range(3):
                y = y * np.sin(y) + x
            return y
        """,
        (normal(3),),
        (0.4,),
    ),
    *case(
        "a sum over elements",
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                s += x[i] * x[i] * i
            return s
        """,
        (normal(5), 5),
        (normal(5, 2), 5),
        (normal(5), 1),
    ),
    *case(
        "a loop that never runs",
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                s += x[i] * x[i] * i
            return s + x
        """,
        (normal(5, 2), 0),
    ),
    *case(
        "nested loops with a non-linear state",
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                for j in range(n):
                    s = s * x[i, j] + np.sin(s)
            return s
        """,
        (normal(3, 3), 3),
    ),
    *case(
        "over the elements of an array",
        """
        def f(xs, w):
            s = 1.0
            for x in xs:
                s = s * np.tanh(x * w)
            return s
        """,
        (normal(4), 0.7),
    ),
    *case(
        "enumerate of zip",
        """
        def f(xs, ys):
            s = 1.0
            for i, (x, y) in enumerate(zip(xs, ys)):
                s = s * x + y * i
            return s
        """,
        (normal(4), normal(4)),
        (normal(4), normal(3)),
    ),
    *case(
        "an inner loop that starts from the outer value",
        """
        def f(x):
            y = 1.0
            for i in range(3):
                z = y * x
                for j in range(2):
                    z = z * z + x
                    y = z * 0.1
                y = y + z * y
            return y
        """,
        (0.7,),
    ),
    *case(
        "values of the last iteration read after the loop",
        """
        def f(x):
            for i in range(4):
                y = x * i
                x = x + y * y * 0.1
            return y + i * x
        """,
        (0.7,),
    ),
    *case(
        "the iteration before",
        """
        def f(x):
            h = x
            prev = x
            for i in range(4):
                if i > 0:
                    h = h + prev * np.sin(h)
                prev = h * h
            return h
        """,
        (0.7,),
    ),
    *case(
        "rows, and the elements of rows",
        """
        def f(x):
            t = 0.0
            for row in x:
                for e in row:
                    t = t + e * e * t + e
            return t
        """,
        (normal(2, 3),),
    ),
    *case(
        "the largest element by comparison",
        """
        def f(x):
            best = x[0]
            for i in range(1, len(x)):
                if x[i] > best:
                    best = x[i]
            return best * best
        """,
        (normal(5),),
    ),
    *case(
        "two states at once",
        """
        def f(x, y):
            for i in range(3):
                x, y = y * 0.5, x + y * x
            return x * y
        """,
        (0.4, 0.9),
    ),
    *case(
        "with print, assert and raise on the way",
        """
        def f(x):
            total = 0.0
            for i in range(3):
                total += np.sum(x) * i
                if total > 100:
                    raise ValueError("diverged")
            assert total < 1e9
            print(total)
            return total
        """,
        (normal(3),),
    ),
    *case(
        "backwards, in steps, and over constants",
        """
        def f(x):
            y = x
            for i in range(6, 0, -2):
                y = np.sin(y) * i
            for c in (0.5, 1.5, 2.5):
                y = y * c + x
            for i in reversed(range(2)):
                y = y * y * 0.1 + i
            return y
        """,
        (normal(3),),
    ),
    *case(
        "a loop variable that hides a parameter",
        """
        def f(x, xs):
            y = x
            for x in xs:
                y = y * x
            return y + x
        """,
        (0.4, positive(3)),
        wrt=("xs",),
    ),
    *case(
        "enumerate with a start",
        """
        def f(xs, w):
            s = 0.0
            for k, x in enumerate(xs, 1):
                s += w**k * x / k
            return s
        """,
        (normal(3), 0.7),
    ),
    *case(
        "two loops one after the other over one state",
        """
        def f(x, a, b):
            for i in range(2):
                x = a * x * (1 - x)
            for i in range(3):
                x = x + b * np.sin(x)
            return x
        """,
        (0.3, 2.1, 0.4),
    ),
    *case(
        "a bound that the loop itself changes",
        """
        def f(x, n):
            for i in range(n):
                n = n + 1
                x = x * np.cos(x) + n
            return x * n
        """,
        (0.4, 3),
    ),
    *case(
        "a loop whose variable is changed inside",
        """
        def f(x):
            for i in range(3):
                i = i * 2 + 1
                x = x * np.sin(x) * i
            return x
        """,
        (0.9,),
    ),
    *case(
        "only one branch carries the derivative on",
        """
        def f(x, n):
            y = x
            for i in range(n):
                if i == 1:
                    y = 0.5
                else:
                    y = y * x
            return y
        """,
        (0.9, 1),
        (0.9, 2),
        (0.9, 4),
    ),
    *case(
        "numerics: Horner's scheme",
        """
        def f(coefficients, x):
            value = 0.0
            for c in coefficients:
                value = value * x + c
            return value
        """,
        (normal(4), 0.7),
        (normal(4), normal(3)),
    ),
    *case(
        "numerics: Runge-Kutta steps of a pendulum",
        """
        def f(theta, omega, length, steps=6, dt=0.1):
            for _ in range(steps):
                k1 = -9.81 / length * np.sin(theta)
                mid_theta = theta + 0.5 * dt * omega
                mid_omega = omega + 0.5 * dt * k1
                k2 = -9.81 / length * np.sin(mid_theta)
                theta = theta + dt * mid_omega
                omega = omega + dt * k2
            return theta, omega
        """,
        (0.5, 0.1, 1.2, 6, 0.1),
    ),
    *case(
        "numerics: Chebyshev polynomials by recursion",
        """
        def f(x, n):
            before, now = 1.0, x
            for _ in range(n):
                before, now = now, 2 * x * now - before
            return now
        """,
        (0.3, 4),
        (0.3, 0),
    ),
    *case(
        "numerics: trapezoidal rule of a parametrized function",
        """
        def f(a, b, n):
            h = 2.0 / n
            total = 0.0
            for i in range(n + 1):
                t = i * h
                weight = 0.5 if i == 0 or i == n else 1.0
                total += weight * np.exp(-a * t) * np.cos(b * t)
            return h * total
        """,
        (0.5, 1.3, 6),
        wrt=("a", "b"),
    ),
    *case(
        "biology: discrete predator-prey",
        """
        def f(prey, predators, growth, bite, steps):
            for _ in range(steps):
                born = growth * prey
                eaten = bite * prey * predators
                prey = prey + born - eaten
                predators = predators * 0.9 + 0.5 * eaten
            return prey + 10 * predators
        """,
        (1.0, 0.5, 0.1, 0.3, 5),
    ),
    *case(
        "finance: a savings plan",
        """
        def f(rate, payments):
            balance = 0.0
            for p in payments:
                balance = balance * (1 + rate) + p
            return balance
        """,
        (0.05, positive(4)),
    ),
    *case(
        "control: a discrete PID loop",
        """
        def f(kp, ki, kd, targets, dt=0.1):
            x = 0.0
            integral = 0.0
            last = 0.0
            cost = 0.0
            for target in targets:
                error = target - x
                integral += error * dt
                u = kp * error + ki * integral + kd * (error - last) / dt
                last = error
                x = x + dt * (u - x)
                cost += error**2
            return cost
        """,
        (0.9, 0.2, 0.05, positive(5), 0.1),
    ),
    *case(
        "signal: an exponential moving average",
        """
        def f(xs, alpha):
            s = xs[0]
            for x in xs[1:]:
                s = alpha * x + (1 - alpha) * s
            return s
        """,
        (normal(5), 0.3),
        (normal(5, 2), 0.3),
    ),
    *case(
        "statistics: log-likelihood of an AR(2) process",
        """
        def f(phi1, phi2, sigma, x):
            total = 0.0
            for t in range(2, len(x)):
                e = x[t] - phi1 * x[t - 1] - phi2 * x[t - 2]
                total = total - 0.5 * (e / sigma) ** 2 - np.log(sigma)
            return total
        """,
        (0.5, -0.3, 0.8, normal(7)),
    ),
    *case(
        "statistics: GARCH variance",
        """
        def f(omega, alpha, beta, r):
            variance = omega / (1 - alpha - beta)
            loss = 0.0
            for e in r:
                loss += np.log(variance) + e**2 / variance
                variance = omega + alpha * e**2 + beta * variance
            return loss / len(r)
        """,
        (0.2, 0.1, 0.7, normal(6)),
    ),
    *case(
        "learning: an Elman network",
        """
        def f(w, u, b, xs):
            h = np.zeros(3)
            for x in xs:
                h = np.tanh(w @ x + u @ h + b)
            return np.sum(h**2)
        """,
        (normal(3, 2), normal(3, 3), normal(3), normal(4, 2)),
    ),
    *case(
        "learning: gradient descent, unrolled",
        """
        def f(lr, w, x, y):
            for step in range(3):
                r = x @ w - y
                w = w - lr * (x.T @ r) / len(y)
            r = x @ w - y
            return np.mean(r * r)
        """,
        (0.1, normal(2), normal(5, 2), normal(5)),
    ),
    *case(
        "probability: forward algorithm of a hidden Markov model",
        """
        def f(start, transition, emission, seen):
            alpha = start * emission[:, seen[0]]
            for t in range(1, len(seen)):
                alpha = (alpha @ transition) * emission[:, seen[t]]
            return np.log(np.sum(alpha))
        """,
        (positive(3), positive(3, 3), positive(3, 2), np.array([0, 1, 1, 0])),
        wrt=("start", "transition", "emission"),
    ),
]
