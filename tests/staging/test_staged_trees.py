"""Objects of classes that are registered with JAX as trees: arguments, loop state, results of branches."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest

import lsp_ad

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.row("A4", "A11", "A14")


@jax.tree_util.register_pytree_node_class
class Node:
    def __init__(self, w, name):
        self.w, self.name = w, name

    def tree_flatten(self):
        return (self.w,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)

    def grown(self, by):
        return Node(self.w * by, self.name)


@partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["act"])
@dataclasses.dataclass
class Layer:
    w: object
    b: object
    act: str


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Frozen:
    w: object
    n: int = dataclasses.field(metadata={"static": True}, default=3)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


jax.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, parts: Pair(*parts))


def of_a_branch(x, node):
    if x > 0:
        made = node.grown(x)
    else:
        made = Node(node.w + x, node.name)
    return made


def state_of_a_loop(x, node):
    while x < 10:
        node = Node(node.w * 1.5, node.name)
        x = x + node.w.sum()
    return node, x


def a_layer(x, layer):
    if x > 0:
        layer = Layer(layer.w * 2, layer.b + x, layer.act)
    while layer.w.sum() < 20:
        layer = dataclasses.replace(layer, w=layer.w * 1.5, b=layer.b + 1)
    if layer.act == "relu":
        return Layer(layer.w, np.maximum(layer.b, 0), layer.act)
    return layer


def a_frozen_one(x, one):
    for _ in range(100):
        if one.w.sum() < 30:
            one = dataclasses.replace(one, w=one.w * 1.1)
    return one


def a_pair(x, pair):
    made = pair
    if x > 0:
        made = Pair(pair.a * 2, pair.b)
    for _ in range(70):
        made = Pair(made.a + made.b, made.b * 0.5)
    return made


CASES = [
    (of_a_branch, lambda: Node(np.arange(1.0, 3.0), "n")),
    (state_of_a_loop, lambda: Node(np.arange(1.0, 3.0), "n")),
    (a_layer, lambda: Layer(np.arange(1.0, 3.0), 0.5, "relu")),
    (a_frozen_one, lambda: Frozen(np.arange(1.0, 3.0))),
    (a_pair, lambda: Pair(np.arange(1.0, 3.0), 1.0)),
]


@pytest.mark.parametrize("x", [1.0, -1.0])
@pytest.mark.parametrize(("program", "tree"), CASES)
def test_as_in_python(program, tree, x):
    expected, form = jax.tree_util.tree_flatten(program(x, tree()))
    with jax.enable_x64(True):
        for run in (lsp_ad.staged(program, backend="jax"), jax.jit(lsp_ad.staged(program))):
            found, same = jax.tree_util.tree_flatten(run(x, tree()))
            assert same == form
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


def changed_by_attribute(x):
    node = Node(x, "a")
    other = node
    while node.w < 10:
        node.w = node.w + 1.0
    return node.w, other.w


def changed_under_its_name(x):
    node = Node(x, "a")
    other = node
    while node.w < 10:
        node.w = node.w + 1.0
        node = other
    return node.w, other.w


def made_and_changed(x):
    node = Node(x, "a")
    if x > 0:
        node = Node(x, "a")
        node.w = node.w * 2
    return node.w


@pytest.mark.parametrize("program", [changed_by_attribute, made_and_changed])
@pytest.mark.parametrize("x", [60.0, 1.0, -1.0])
def test_changes(program, x):
    np.testing.assert_allclose(lsp_ad.staged(program, backend="jax")(x), program(x), rtol=1e-12)


def other_names(x):
    if x > 0:
        made = Node(x, "a")
    else:
        made = Node(x, "b")
    return made


def changed_and_replaced(x):
    node = Node(x, "a")
    other = node
    for _ in range(100):
        node.w = node.w + 1
        if x > 50:
            node = Node(node.w * 2, "a")
    return node.w, other.w


def one_of_two(x):
    node, other = Node(x, "a"), Node(x * 2, "a")
    if x > 0:
        node = other
    node.w = node.w + 1.0
    return node.w, other.w


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (other_names, "`made` is a Node with 'a' besides its 1 parts in one branch, a Node with 'b'"),
        (changed_and_replaced, "What `node` stands for is changed in a staged `for`"),
        (changed_under_its_name, "What `node` stands for is changed in a staged `while`"),
        (one_of_two, "`node` is one of several objects of `Node` here, by a staged value"),
    ],
)
def test_refused(program, text):
    with pytest.raises(lsp_ad.StagingError, match=r"test_staged_trees.py:\d+: ") as raised:
        lsp_ad.staged(program, backend="jax")(1.0)
    assert text in str(raised.value)


def test_texts_and_none_in_a_result():
    def named(x):
        return {"value": x * 2.0, "name": "double", "rest": None, "count": 3}

    found = lsp_ad.staged(named, backend="jax")(1.5)
    assert found == {"value": 3.0, "name": "double", "rest": None, "count": 3}
