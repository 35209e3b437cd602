"""Programs in the intermediate language, each with arguments and the same function in Python and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.ir import Program
from lsp_ad.staging.lantern.parsing import parse

rng = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    text: str
    python: Callable
    args: tuple[Any, ...]

    @property
    def program(self) -> Program:
        return parse(self.text)


def tree(leaves: int) -> tuple[np.ndarray, np.ndarray]:
    """A random binary tree as arrays of left and right children (-1: none); node 0 is the root."""
    children: list[list[int]] = [[-1, -1]]
    ends = [0]
    while len(ends) < leaves:
        node = ends.pop(int(rng.integers(len(ends))))
        for side in (0, 1):
            children[node][side] = len(children)
            ends.append(len(children))
            children.append([-1, -1])
    both = np.array(children)
    return both[:, 0].copy(), both[:, 1].copy()


LEFT, RIGHT = tree(9)

TREE_PROD = """
(program tree_prod
  ; the product of a base and of the values of all nodes under a node
  (def tree_prod ((base float64) (value (array float64 1)) (left (array int64 1)) (right (array int64 1)) (i int64))
      float64
    (if (< i 0)
      base
      (* (get value [i])
        (* (call tree_prod base value left right (get left [i]))
          (call tree_prod base value left right (get right [i])))))))
"""


def tree_prod(base, value, left, right, i):
    if i < 0:
        return base
    below = tree_prod(base, value, left, right, left[i]) * tree_prod(base, value, left, right, right[i])
    return value[i] * below


POWER = """
(program cube_and_power
  (def power ((x float64) (n int64)) float64
    (if (== n 0) 1.0 (* x (call power x (- n 1)))))
  (def cube_and_power ((x float64) (n int64)) (tuple float64 float64)
    (tuple (call power x 3) (call power x n))))
"""

ACKERMANN = """
(program ackermann
  (def ackermann ((m int64) (n int64)) int64
    (if (== m 0)
      (+ n 1)
      (if (== n 0)
        (call ackermann (- m 1) 1)
        (call ackermann (- m 1) (call ackermann m (- n 1)))))))
"""


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


EVEN_ODD = """
(program even
  (def even ((n int64)) bool (if (== n 0) true (call odd (- n 1))))
  (def odd ((n int64)) bool (if (== n 0) false (call even (- n 1)))))
"""

STENCIL = """
(program heat
  (def heat ((u (array float64 1)) (r float64) (steps int64)) (array float64 1)
    (item
      (while ((u u) (k 0))
        (< k steps)
        (tuple
          (set u [(: 1 -1)]
            (+ (get u [(: 1 -1)])
              (* r (+ (- (get u [(: 2)]) (* 2.0 (get u [(: 1 -1)]))) (get u [(: _ -2)])))))
          (+ k 1)))
      0)))
"""


def heat(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


GAUSS_SEIDEL = """
(program sweep
  ; element by element, in place: each step reads what the one before it wrote
  (def sweep ((u (array float64 1)) (steps int64)) (array float64 1)
    (item
      (while ((u u) (k 0))
        (< k steps)
        (tuple
          (item
            (while ((v u) (i 1))
              (< i (- (size u :axis 0) 1))
              (tuple
                (set v [i] (* 0.5 (+ (get v [(- i 1)]) (get v [(+ i 1)]))))
                (+ i 1)))
            0)
          (+ k 1)))
      0)))
"""


def sweep(u, steps):
    u = u.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
    return u


NEWTON = """
(program root
  (def root ((a float64)) (tuple float64 int64)
    (while ((x a) (n 0))
      (and (> (abs (- (* x x) a)) 1e-12) (< n 100))
      (tuple (* 0.5 (+ x (/ a x))) (+ n 1)))))
"""


def root(a):
    x, n = a, 0
    while abs(x * x - a) > 1e-12 and n < 100:
        x, n = 0.5 * (x + a / x), n + 1
    return x, n


LSTM = """
(program lstm
  (def logistic ((x (array float64 1))) (array float64 1)
    (/ 1.0 (+ 1.0 (exp (neg x)))))
  (def lstm ((xs (array float64 2)) (w (array float64 2)) (u (array float64 2)) (b (array float64 1)))
      (tuple (array float64 1) (array float64 2))
    (let ((n (size u :axis 1))
          (end
            (while ((t 0) (h (zeros n :dtype float64)) (c (zeros n :dtype float64)) (hs (list-new :item (array float64 1))))
              (< t (size xs :axis 0))
              (let ((z (+ (+ (matmul w (get xs [t])) (matmul u h)) b))
                    (i (call logistic (get z [(: _ n)])))
                    (f (call logistic (get z [(: n (* 2 n))])))
                    (o (call logistic (get z [(: (* 2 n) (* 3 n))])))
                    (g (tanh (get z [(: (* 3 n))])))
                    (c (+ (* f c) (* i g)))
                    (h (* o (tanh c))))
                (tuple (+ t 1) h c (list-append hs h))))))
      (tuple (item end 2) (list-stack (item end 3))))))
"""


def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(xs, w, u, b):
    n = u.shape[1]
    h, c, hs = np.zeros(n), np.zeros(n), []
    for x in xs:
        z = w @ x + u @ h + b
        i, f, o = logistic(z[:n]), logistic(z[n : 2 * n]), logistic(z[2 * n : 3 * n])
        c = f * c + i * np.tanh(z[3 * n :])
        h = o * np.tanh(c)
        hs.append(h)
    return c, np.stack(hs)


TREE_LSTM = """
(program root_state
  (def logistic ((x (array float64 1))) (array float64 1)
    (/ 1.0 (+ 1.0 (exp (neg x)))))
  (def node ((w (array float64 2)) (b (array float64 1)) (words (array float64 2))
             (word (array int64 1)) (left (array int64 1)) (right (array int64 1)) (i int64))
      (tuple (array float64 1) (array float64 1))
    (if (< (get left [i]) 0)
      (let ((x (get words [(get word [i])]))) (tuple (tanh x) x))
      (let ((a (call node w b words word left right (get left [i])))
            (d (call node w b words word left right (get right [i])))
            (n (size words :axis 1))
            (z (+ (matmul w (concatenate (item a 0) (item d 0) :axis 0)) b))
            (c (+ (* (call logistic (get z [(: _ n)])) (tanh (get z [(: (* 4 n))])))
                 (+ (* (call logistic (get z [(: n (* 2 n))])) (item a 1))
                   (* (call logistic (get z [(: (* 2 n) (* 3 n))])) (item d 1))))))
        (tuple (* (call logistic (get z [(: (* 3 n) (* 4 n))])) (tanh c)) c))))
  (def root_state ((w (array float64 2)) (b (array float64 1)) (words (array float64 2))
                   (word (array int64 1)) (left (array int64 1)) (right (array int64 1)))
      (array float64 1)
    (item (call node w b words word left right 0) 0)))
"""


def tree_lstm_node(w, b, words, word, left, right, i):
    if left[i] < 0:
        x = words[word[i]]
        return np.tanh(x), x
    ha, ca = tree_lstm_node(w, b, words, word, left, right, left[i])
    hd, cd = tree_lstm_node(w, b, words, word, left, right, right[i])
    n = words.shape[1]
    z = w @ np.concatenate((ha, hd)) + b
    c = logistic(z[:n]) * np.tanh(z[4 * n :])
    c = c + logistic(z[n : 2 * n]) * ca + logistic(z[2 * n : 3 * n]) * cd
    return logistic(z[3 * n : 4 * n]) * np.tanh(c), c


TAPE = """
(program slope
  ; the derivative of a loop: a list of tuples, written in the one sweep and popped in the other
  (def slope ((x float64) (n int64)) (tuple float64 float64)
    (let ((forward
            (while ((i 0) (y x) (tape (list-new :item (tuple float64 bool))))
              (< i n)
              (let ((up (> y 1.0)))
                (tuple
                  (+ i 1)
                  (if up (sin (* y x)) (* 1.5 (exp (* y 0.3))))
                  (list-append tape (tuple y up))))))
          (backward
            (while ((dy 1.0) (dx 0.0) (tape (item forward 2)))
              (> (list-len tape) 0)
              (let ((popped (list-pop tape))
                    (y (item (item popped 1) 0)))
                (if (item (item popped 1) 1)
                  (tuple (* dy (* x (cos (* y x)))) (+ dx (* dy (* y (cos (* y x))))) (item popped 0))
                  (tuple (* dy (* 0.45 (exp (* y 0.3)))) dx (item popped 0)))))))
      (tuple (item forward 1) (+ (item backward 0) (item backward 1))))))
"""


def slope(x, n):
    y, tape = x, []
    for _ in range(n):
        up = y > 1.0
        tape.append((y, up))
        y = np.sin(y * x) if up else 1.5 * np.exp(y * 0.3)
    value, dy, dx = y, 1.0, 0.0
    while tape:
        y, up = tape.pop()
        if up:
            dx = dx + dy * y * np.cos(y * x)
            dy = dy * x * np.cos(y * x)
        else:
            dy = dy * 0.45 * np.exp(y * 0.3)
    return value, dx + dy


CASES = {
    "tree_prod": Case(TREE_PROD, tree_prod, (2.0, rng.uniform(0.5, 1.5, len(LEFT)), LEFT, RIGHT, 0)),
    "power": Case(POWER, lambda x, n: (x**3, x**n), (1.7, 11)),
    "ackermann": Case(ACKERMANN, ackermann, (2, 3)),
    "even_odd": Case(EVEN_ODD, lambda n: n % 2 == 0, (17,)),
    "stencil": Case(STENCIL, heat, (rng.normal(size=30), 0.2, 12)),
    "gauss_seidel": Case(GAUSS_SEIDEL, sweep, (rng.normal(size=12), 3)),
    "newton": Case(NEWTON, root, (7.0,)),
    "lstm": Case(
        LSTM,
        lstm,
        (rng.normal(size=(5, 3)), rng.normal(size=(16, 3)), rng.normal(size=(16, 4)), rng.normal(size=16)),
    ),
    "tree_lstm": Case(
        TREE_LSTM,
        lambda *args: tree_lstm_node(*args, 0)[0],
        (
            rng.normal(size=(20, 8)),
            rng.normal(size=20),
            rng.normal(size=(7, 4)),
            rng.integers(0, 7, len(LEFT)),
            LEFT,
            RIGHT,
        ),
    ),
    "tape": Case(TAPE, slope, (1.3, 9)),
}
