"""What the lightbulb offers, where, and what the offers do."""

from __future__ import annotations

import pytest
from lsprotocol import types
from server_markers import SETTINGS, URI, applied, client, cursor, snapshot, source

from lsp_ad.problems import Span
from lsp_ad.server.client import KIND, Settings
from lsp_ad.server.code_actions import code_actions, generated, parsed_data, wants

LOSS = """
    import numpy as np


    def loss(w, x):
        z = w * x
        return np.sum(z * z)
"""


def actions(marked: str, only=None, settings=SETTINGS, **abilities) -> list[types.CodeAction]:
    text, at = cursor(marked)
    here = Span(at.line + 1, at.character, at.line + 1, at.character)
    return code_actions(snapshot(text), here, only, client(**abilities), settings)


def titles(marked: str, **abilities) -> list[str]:
    return [a.title + (" (disabled)" if a.disabled else "") for a in actions(marked, **abilities)]


@pytest.mark.parametrize("place", ["de$0f loss", "lo$0ss(w, x)", "z = w$0 * x", "return$0"])
def test_offered_anywhere_in_a_function(place):
    assert titles(LOSS.replace(place.replace("$0", ""), place)) == [
        "Generate gradient of loss",
        "Generate gradient of loss with respect to w",
        "Generate gradient of loss with respect to x",
        "Generate forward derivative of loss",
        "Generate Hessian-vector product of loss",
    ]


def test_one_parameter_gets_one_offer_of_a_gradient():
    assert titles("import numpy as np\n\ndef f(x):\n    return np.sum(np.exp(x))$0\n") == [
        "Generate gradient of f",
        "Generate forward derivative of f",
        "Generate Hessian-vector product of f",
    ]


def test_a_hessian_vector_product_is_offered_where_the_result_surely_is_a_number():
    assert titles("import numpy as np\n\ndef f(x):\n    return np.exp(x)$0\n") == [
        "Generate gradient of f",
        "Generate forward derivative of f",
    ]


def test_a_parameter_that_is_no_float_gets_no_offer():
    assert titles("def f(x, n: int):\n    return x * n$0\n") == [
        "Generate gradient of f",
        "Generate forward derivative of f",
    ]


def test_a_decorator_belongs_to_its_function():
    (title,) = titles("import numpy as np\n\n@regi$0ster\ndef f(x):\n    return np.exp(x)\n")
    assert title.startswith("Generate gradient of f")


@pytest.mark.parametrize(
    "marked",
    [
        "$0\nimport numpy as np\n\ndef f(x):\n    return np.exp(x)\n",
        "import numpy as np\n\ndef f(x):\n    return np.exp(x)\n\n\nprint('$0')\n",
        "def main():\n    pri$0nt('hello')\n",
        "def greet(name: str):\n    retu$0rn name.upper()\n",
        "class A(Unknown):\n    def f(self, x):\n        return$0 x\n",
        "import numpy as np\n\ndef f(x):\n    return np.exp(x$0\n",
    ],
    ids=["above", "below", "no parameter", "text", "method of a class that cannot be followed", "does not parse"],
)
def test_no_offer(marked):
    assert titles(marked) == []


REFUSED = """
    import numpy as np


    def f(x):
        $0return eval("x") * np.exp(x)
"""


def test_a_refused_function_has_a_disabled_action_with_the_reason():
    (action,) = actions(REFUSED)
    assert action.disabled is not None
    assert "eval" in action.disabled.reason and "Line 5" in action.disabled.reason
    assert action.edit is None and action.data is None


def test_a_client_that_shows_no_disabled_actions_gets_none():
    assert titles(REFUSED, shows_disabled=False) == []


def test_a_gradient_that_exists_is_not_generated_twice():
    marked = LOSS.replace("w * x", "w * x$0") + "\n\n    def loss_grad(w, x):\n        return 0.0\n"
    gradient, *others = actions(marked)
    assert gradient.disabled is not None and "loss_grad" in gradient.disabled.reason
    assert [a.title for a in others] == [
        "Generate forward derivative of loss",
        "Generate Hessian-vector product of loss",
    ]


def test_other_derivatives_that_exist_are_not_offered():
    marked = LOSS.replace("w * x", "w * x$0") + "\n\n    def loss_jvp(w, x):\n        return 0.0\n"
    assert not any("forward" in title for title in titles(marked))


@pytest.mark.parametrize(
    "only, expected",
    [
        ([KIND], ["gradient", "gradient", "gradient", "forward", "Hessian-vector"]),
        ([f"{KIND}.forward"], ["forward"]),
        ([f"{KIND}.hessianVectorProduct"], ["Hessian-vector"]),
        ([f"{KIND}.forward", f"{KIND}.hessianVectorProduct"], ["forward", "Hessian-vector"]),
    ],
)
def test_a_client_may_ask_for_one_of_them(only, expected):
    found = actions(LOSS.replace("w * x", "w * x$0"), only=only)
    assert [a.title.split()[1] for a in found] == expected


@pytest.mark.parametrize("mode", ["jvp", "hvp"])
def test_other_derivatives_are_written_below_their_function(mode):
    edit, _ = generated(snapshot(source(LOSS)), "loss", None, client(), SETTINGS, mode)
    assert f"def loss_{mode}(w, x, " in applied(source(LOSS), edit, "utf-32")


@pytest.mark.parametrize(
    "only", [None, [], [""], ["refactor"], ["refactor.rewrite"], [KIND], ["quickfix", "refactor"]]
)
def test_kinds_that_want_the_action(only):
    assert wants(only)


@pytest.mark.parametrize(
    "only", [["quickfix"], ["refactor.extract"], [f"{KIND}.more"], ["refactor.rewrite.gen"]]
)
def test_kinds_that_do_not(only):
    assert not wants(only)
    assert actions(LOSS.replace("w * x", "w * x$0"), only=only) == []


def test_edits_are_left_for_later_where_the_client_can_wait():
    action = actions(LOSS.replace("w * x", "w * x$0"))[1]
    assert action.kind == KIND and action.edit is None
    assert parsed_data(action.data) == (URI, 1, "loss", ("w",), "grad")


def test_edits_are_there_at_once_where_it_cannot():
    names = ["loss_grad"] * 3 + ["loss_jvp", "loss_hvp"]
    for name, action in zip(names, actions(LOSS.replace("w * x", "w * x$0"), resolves_edit=False), strict=True):
        assert action.data is None
        assert f"def {name}(" in applied(source(LOSS), action.edit, "utf-32")


def test_the_edit_is_one_versioned_edit_of_the_document():
    edit, _ = generated(snapshot(source(LOSS), version=7), "loss", None, client(), SETTINGS)
    (change,) = edit.document_changes
    assert change.text_document.uri == URI and change.text_document.version == 7


def test_a_client_without_versioned_edits_gets_plain_ones():
    edit, _ = generated(snapshot(source(LOSS)), "loss", None, client(document_changes=False), SETTINGS)
    assert edit.document_changes is None and list(edit.changes) == [URI]


def test_the_gradient_stands_below_its_function():
    text = source(LOSS) + "\n\nprint('end')\n"
    edit, _ = generated(snapshot(text), "loss", None, client(), SETTINGS)
    after = applied(text, edit, "utf-32")
    assert after.index("def loss(") < after.index("def loss_grad(") < after.index("print('end')")


def test_the_line_ends_of_the_document_are_kept():
    text = source(LOSS).replace("\n", "\r\n")
    edit, _ = generated(snapshot(text), "loss", None, client(), SETTINGS)
    after = applied(text, edit, "utf-32")
    assert "\n" not in after.replace("\r\n", "")


def test_helpers_are_imported_where_the_setting_says_so():
    marked = "import numpy as np\n\ndef f(x, b):\n    return np.sum(x + b)\n"
    inline, _ = generated(snapshot(marked), "f", None, client(), Settings("inline"))
    imported, _ = generated(snapshot(marked), "f", None, client(), Settings("import"))
    assert "lsp_ad" not in applied(marked, inline, "utf-32")
    assert "from lsp_ad.runtime import" in applied(marked, imported, "utf-32")


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        "x",
        {"uri": 1, "version": 1, "function": "f", "wrt": None, "mode": "grad"},
        {"uri": URI, "version": 1, "function": "f", "wrt": [], "mode": "grad"},
        {"uri": URI, "version": 1, "function": "f", "wrt": [1], "mode": "grad"},
        {"uri": URI, "version": 1, "function": "f", "wrt": None},
        {"uri": URI, "version": 1, "function": "f", "wrt": None, "mode": "other"},
    ],
)
def test_data_of_other_servers_is_told_apart(data):
    with pytest.raises(ValueError, match="not the data"):
        parsed_data(data)
