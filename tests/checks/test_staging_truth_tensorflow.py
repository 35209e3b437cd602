"""The errors that the checks foretell under tf.function happen, and what they pass works."""

from __future__ import annotations

import linecache
import textwrap

import numpy as np
import pytest

from lsp_ad.checks import check
from lsp_ad.problems import Severity
from lsp_ad.semantics.names import Program
from lsp_ad.source.document import Document
from lsp_ad.source.parse import parse

pytestmark = pytest.mark.row("A13")

FAILS = {
    "max": "return max(x, 0.0)",
    "any": "return any(v > 0)",
    "sum": "return sum(v)",
    "round": "return round(x)",
    "in": "return 1.0 in v",
    "bool": "return bool(x > 0)",
    "numpy": "return x.numpy()",
    "np": "return np.sum(v)",
    "unpack": "a, b, c, d = v\nreturn a",
    "comprehension": "return [a for a in v]",
    "assert": "assert x > 0\nreturn x",
    "int and float": "if x > 0:\n    y = 1\nelse:\n    y = 2.0\nreturn y",
    "conditional expression": "return 1 if x > 0 else 2.0",
    "tuples": "if x > 0:\n    y = (1.0, 2.0)\nelse:\n    y = (1.0,)\nreturn y",
    "None": "y = None\nif x > 0:\n    y = x\nreturn y",
    "one branch": "if x > 0:\n    y = x\nreturn y",
    "elif": "if x > 0:\n    y = 1.0\nelif x < -1:\n    y = 2.0\nreturn y",
    "no return": "if x > 0:\n    return x",
    "return in a loop": "for i in tf.range(3):\n    if x > 0:\n        return x\n    x = x + 1\nreturn x",
    "return in a Python loop": "for i in range(3):\n    if x > 0:\n        return x\n    x = x + 1\nreturn x",
    "break": "for i in range(3):\n    x = x + 1\n    if x > 3:\n        break\nreturn x",
    "while True": "while True:\n    x = x + 1\n    if x > 5:\n        break\nreturn x",
    "int in a loop": "y = 0\nwhile x < 10:\n    y = y + 0.5\n    x = x + 1\nreturn y",
    "enumerate": "y = 0.0\nfor i, a in enumerate(v):\n    y = y + a\nreturn y",
    "zip": "y = 0.0\nfor a, b in zip(v, v):\n    y = y + a\nreturn y",
    "append": "ys = []\nfor i in tf.range(3):\n    ys.append(v[i])\nreturn tf.stack(ys)",
    "append in a branch": "ys = []\nif x > 0:\n    ys.append(x + 1.0)\nreturn tf.stack(ys)",
    "a format": "return '%.2f' % x",
    "grows": "ys = ()\nfor i in tf.range(3):\n    ys = ys + (x,)\nreturn ys",
}
WORKS = {
    "and": "return x > 0 and not x > 1",
    "chain": "return 0 < x < 2",
    "int": "return int(x), float(x), abs(x), len(v)",
    "sorted": "return sorted(v)",
    "if": "if x > 0:\n    y = 1\nelse:\n    y = 2\nreturn y",
    "return": "if x > 0:\n    return x\nreturn -x",
    "elif": "if x > 0:\n    y = 1.0\nelif x < -1:\n    y = 2.0\nelse:\n    y = 3.0\nreturn y",
    "loop": "y = 0.0\nfor a in v:\n    y = y + 1.0\nreturn y",
    "while": "y = 0.0\nwhile x < 10:\n    y = x * 2\n    x = x + 1\nreturn y",
    "continue": "y = 0\nfor i in tf.range(3):\n    if x > 2:\n        continue\n    y = y + 1\nreturn y",
    "break": "for i in tf.range(3):\n    x = x + 1\n    if x > 3:\n        break\nreturn x",
    "mask": "return v[v > 0], v[: tf.cast(x, tf.int32)], tf.zeros([tf.cast(x, tf.int32)])",
    "range": "for i in range(3):\n    x = x * i\nreturn x",
    "product": "return v * np.ones(4, np.float32)",
    "split": "a, b = tf.split(v, 2)\nreturn a",
    "append that is not read": "ys = []\nfor i in tf.range(3):\n    ys.append(v[i])\nreturn x",
    "append in a Python loop": "ys = []\nfor i in range(3):\n    ys.append(v[i])\nreturn tf.stack(ys)",
    "moments": "a, b = tf.nn.moments(v, [0])\nreturn a * b",
    "None that is not read": "y = None\nif x > 0:\n    y = x\nreturn x",
    "map_fn": "return tf.map_fn(lambda a: a if a > 1 else -a, v)",
    "enumerate of parts": "y = 0.0\nfor i, a in enumerate(tf.unstack(v)):\n    y = y + a\nreturn y",
    "later": "if x > 0:\n    y = x\n    x = y * 2\ny = x\nreturn y",
    "raise": "if x.shape.rank != 0:\n    raise ValueError('no scalar')\nelse:\n    y = x\nreturn y",
}


def source(body: str) -> str:
    head = "import numpy as np\nimport tensorflow as tf\n\n@tf.function\ndef f(x, v):\n    x, v = tf.identity(x), tf.identity(v)\n"
    return head + textwrap.indent(body, "    ") + "\n"


def errors(text: str) -> list[str]:
    return [p.code for p in check(Program(parse(Document(text)))) if p.severity is Severity.ERROR]


@pytest.mark.parametrize("body", FAILS.values(), ids=FAILS.keys())
def test_it_fails(body):
    assert errors(source(body))
    tensorflow = pytest.importorskip("tensorflow")
    with pytest.raises((TypeError, ValueError, AttributeError, NotImplementedError, tensorflow.errors.OpError)):
        run(body, tensorflow)


@pytest.mark.parametrize("body", WORKS.values(), ids=WORKS.keys())
def test_it_works(body):
    assert errors(source(body)) == []
    run(body, pytest.importorskip("tensorflow"))


def run(body, tensorflow):
    """Run the function; AutoGraph reads its text from the cache of lines."""
    text = source(body)
    name = f"<function {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"tf": tensorflow, "np": np, "__name__": "truth"}
    exec(compile(text, name, "exec"), space)
    return space["f"](tensorflow.constant(1.5), tensorflow.constant(np.arange(4.0, dtype=np.float32)))
