"""Hover on functions, statements and calls."""

from __future__ import annotations

from lsprotocol import types
from server_markers import URI, client, cursor, cut, snapshot

from lsp_ad.server.hover import hover
from lsp_ad.source.document import Document

LOSS = """
    import numpy as np


    def loss(w, x):
        z = w * x
        e = np.exp(z)  # the comment
        for i in range(3):
            e = e * x
        return np.sum(e)
"""


def at(place: str, marked: str = LOSS) -> str:
    """The source with the cursor at a place."""
    without = place.replace("$0", "")
    assert marked.count(without) == 1
    return marked.replace(without, place)


def shown(marked: str, **abilities) -> types.Hover | None:
    text, position = cursor(marked)
    return hover(snapshot(text), position, client(**abilities))


def text_of(marked: str, **abilities) -> str:
    found = shown(marked, **abilities)
    return found.contents.value if found else ""


def covered(marked: str) -> str:
    """The piece of the text that the hover is about."""
    return cut(cursor(marked)[0], shown(marked).range, "utf-32")


def test_on_a_function_its_gradient():
    marked = at("def lo$0ss(")
    assert "```python\ndef loss_grad(w, x" in text_of(marked)
    assert covered(marked) == "loss"


def test_on_a_statement_its_adjoint_lines():
    marked = at("z$0 = w * x")
    assert "dw" in text_of(marked) and "```python" in text_of(marked)
    assert "def " not in text_of(marked)
    assert covered(marked) == "z = w * x"


def test_an_adjoint_is_that_of_the_statement_alone():
    assert "dw" not in text_of(at("$0return np.sum(e)"))


def test_on_a_call_the_rule_and_the_adjoint_lines():
    marked = at("np.ex$0p(z)")
    assert "numpy.exp" in text_of(marked) and "dz" in text_of(marked)
    assert covered(marked) == "np.exp"


def test_the_rule_is_found_under_any_name():
    assert "numpy.tanh" in text_of("from numpy import tanh as t\n\ndef f(x):\n    return t$0(x)\n")


def test_on_a_method_its_rule():
    assert "numpy.sum" in text_of("import numpy as np\n\ndef f(x):\n    return np.exp(x).su$0m()\n")


def test_a_local_name_is_no_library_function():
    marked = "from numpy import exp\n\ndef f(x):\n    exp = abs\n    return e$0xp(x)\n"
    assert "numpy.exp" not in text_of(marked)


def test_on_the_head_of_a_loop_not_its_body():
    assert covered(at("for i in ran$0ge(3):")) in ("for i in range(3)", "range")


def test_a_comment_belongs_to_its_statement():
    assert "dz" in text_of(at("# the com$0ment"))


def test_nothing_outside_of_functions():
    assert shown(at("import num$0py as np")) is None


def test_nothing_where_nothing_is_numeric():
    assert shown("def main(argv):\n    for a in$0 argv:\n        print(a)\n") is None
    assert shown("def ma$0in():\n    print('x')\n") is None


REFUSED = """
    import numpy as np


    def f(x):
        y = np.exp(x)
        x.real = y
        return y
"""


def test_a_refused_function_says_why():
    assert "AD301" in text_of(at("def f$0(", REFUSED))


def test_a_refused_statement_says_why_and_others_do_not():
    assert "AD301" in text_of(at("x.real$0 = y", REFUSED))
    assert "AD301" not in text_of(at("y = np.exp$0(x)", REFUSED))


def test_plain_text_for_clients_that_want_it():
    found = shown(at("def lo$0ss("), markdown=False)
    assert found.contents.kind == types.MarkupKind.PlainText
    assert "```" not in found.contents.value and "def loss_grad(" in found.contents.value


def test_long_gradients_are_cut():
    body = "".join(f"    x{i + 1} = np.exp(x{i}) * x{i}\n" for i in range(40))
    found = text_of(f"import numpy as np\n\ndef f$0(x0):\n{body}    return x40\n")
    assert len(found.splitlines()) < 45 and "more lines" in found


def test_positions_beyond_the_end_have_no_hover():
    text, _ = cursor(at("def lo$0ss("))
    assert hover(snapshot(text), types.Position(900, 3), client()) is None


def test_a_file_that_does_not_parse_shows_its_last_good_version():
    good, _ = cursor(at("def lo$0ss("))
    broken = good.replace("import numpy as np\n", "import numpy as np\n\nx = (\n")
    older = snapshot(good)
    older.wanted = True
    newer = older.successor(Document(broken, URI, 2))
    line = broken.splitlines().index("    z = w * x")
    found = hover(newer, types.Position(line, 4), client())
    assert "dw" in found.contents.value and "last version" in found.contents.value
    assert found.range.start.line == line


def test_the_changed_lines_of_such_a_file_show_nothing():
    good, _ = cursor(at("def lo$0ss("))
    older = snapshot(good)
    older.wanted = True
    newer = older.successor(Document(good.replace("z = w * x", "z = w *"), URI, 2))
    line = good.splitlines().index("    z = w * x")
    assert hover(newer, types.Position(line, 4), client()) is None


def test_a_file_that_never_parsed_shows_nothing():
    assert shown("def f$0(x:\n    return x\n") is None
