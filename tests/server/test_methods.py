"""The lightbulb on a method of a class that can be followed."""

from __future__ import annotations

import pytest
from server_markers import cursor, snapshot

from lsp_ad.problems import Span
from lsp_ad.server.client import Client, Settings
from lsp_ad.server.code_actions import generated, offers

pytestmark = pytest.mark.row("T18")
FILE = """
    import numpy as np


    class Model:
        def __init__(self, w):
            self.w = w

        def loss(self, x):
            return np.sum(self.w *$0 x)

        def show(self):
            print(self)
"""


def test_a_gradient_of_a_method():
    text, at = cursor(FILE)
    found = snapshot(text)
    here = Span(at.line + 1, 0, at.line + 1, 0)
    assert [o.title for o in offers(found.analysis, here)] == [
        "Generate gradient of Model.loss",
        "Generate gradient of Model.loss with respect to self",
        "Generate gradient of Model.loss with respect to x",
        "Generate forward derivative of Model.loss",
        "Generate Hessian-vector product of Model.loss",
    ]
    edit, _ = generated(found, "Model.loss", ("self",), Client(), Settings())
    assert "def Model_loss_grad(self: Model, x, dloss=1.0)" in str(edit)


@pytest.mark.parametrize("line", [5, 6, 11, 12])
def test_methods_that_cannot_be_differentiated_are_left_alone(line):
    text, _ = cursor(FILE)
    assert offers(snapshot(text).analysis, Span(line, 0, line, 0)) == []
