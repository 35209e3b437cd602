"""Inserting a gradient into files of every kind: the result runs, is right, and leaves the rest as it was."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lsp_ad.differentiate import differentiate, insertion
from lsp_ad.source import edits
from tests import oracle

X, Y = np.array([0.3, -0.6, 1.1]), 0.7
LINES = ["import numpy as np", "", "", "def f(x, y):", "    z = np.sin(x) * y", "    return z * x"]


def inserted(text: str, name: str = "f", wrt=None, mode: str = "vjp", helpers: str = "inline") -> str:
    program = oracle.program(text)
    derivative, problems = differentiate(program, name, wrt, mode)
    assert derivative is not None, problems
    changes = insertion(program, derivative, helpers)
    for change in changes:
        assert change.start == change.end, "only insertions"
    return edits.apply(text, changes)


def assert_right(text: str) -> None:
    """The file runs as it is read from disk, and its f_vjp is that of z * x."""
    namespace = oracle.run(text)
    seed = np.array([1.0, -2.0, 0.5])
    dx, dy = namespace["f_vjp"](X, Y, seed)
    np.testing.assert_allclose(dx, seed * Y * (np.sin(X) + X * np.cos(X)))
    np.testing.assert_allclose(dy, np.sum(seed * np.sin(X) * X))


def ends(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\r|\n", text))


FILES = {
    "an ordinary file": "\n".join(LINES) + "\n",
    "without a line end at the end": "\n".join(LINES),
    "with empty lines at the end": "\n".join(LINES) + "\n\n\n",
    "with CRLF": "\r\n".join(LINES) + "\r\n",
    "with CRLF, the last line without": "\r\n".join(LINES),
    "with CR only": "\r".join(LINES) + "\r",
    "indented with tabs": "\n".join(LINES).replace("    ", "\t") + "\n",
    "indented with two spaces": "\n".join(LINES).replace("    ", "  ") + "\n",
    "with form feeds between sections": "\n\f\n".join(["\n".join(LINES[:3]), "\n".join(LINES[3:])])
    + "\n\f\n",
    "with a form feed before the function": "\n".join(LINES).replace("def f", "\fdef f") + "\n",
    "with non-ASCII text before, in and after": (
        "# größe ☃ 𝔘\n" + "\n".join(LINES).replace("z", "größe") + "  # ≠ 𝔘\n\n\nNAME = 'ü𝔘'\n"
    ),
    "with a line separator in a string": "NOTE = 'a\u2028b\x0bc'\n" + "\n".join(LINES) + "\n",
    "with a trailing comment": "\n".join(LINES) + "  # done\n",
    "with a comment as the last line": "\n".join(LINES) + "\n# the end",
    "with more below": "\n".join(LINES) + "\n\n\nK = 3\n\n\ndef g(x):\n    return x * K\n",
    "with more directly below": "\n".join(LINES) + "\nK = 3\n",
    "on one line": "import numpy as np\ndef f(x, y): z = np.sin(x) * y; return z * x\n",
    "with a docstring over several lines": (
        "\n".join([*LINES[:4], '    """First.', "", "    Second.", '    """', *LINES[4:]]) + "\n"
    ),
    "with lines continued": "\n".join(LINES).replace("np.sin(x) * y", "(np.sin(x)  # sine\n        * y)")
    + "\n",
    "with NumPy under another name": "\n".join(LINES).replace("as np", "as xp").replace("np.s", "xp.s")
    + "\n",
    "with NumPy under its own name": "\n".join(LINES).replace(" as np", "").replace("np.s", "numpy.s") + "\n",
    "with names from NumPy only": (
        "from numpy import sin\n" + "\n".join(LINES[1:]).replace("np.sin", "sin") + "\n"
    ),
    "with two imports on a line": "import math, os; import numpy as np\n" + "\n".join(LINES[1:]) + "\n",
    "with a docstring of its own": '"""A file.\n\nLong.\n"""\n\n' + "\n".join(LINES) + "\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_files(text):
    assert_right(inserted(text))


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_line_ends_are_those_of_the_file(text):
    assert ends(inserted(text)) == (ends(text) or {"\n"})


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_second_gradient_goes_below_the_function_too(text):
    once = inserted(text)
    twice = inserted(once, mode="grad")
    assert_right(twice)
    namespace = oracle.run(twice)
    np.testing.assert_allclose(
        namespace["f_grad"](X, Y, np.ones(3))[0], namespace["f_vjp"](X, Y, np.ones(3))[0]
    )
    assert twice.index("def f_grad") < twice.index("def f_vjp")


def test_helpers_are_written_once():
    twice = inserted(inserted("\n".join(LINES) + "\n"), mode="grad")
    assert twice.count("def unbroadcast") == 1


def test_a_file_without_numpy_gets_the_import_after_those_it_has():
    text = '"""Doc."""\nimport math\n\n\ndef f(x, y):\n    return math.sin(x) * y\n'
    found = inserted(text, wrt=["x", "y"])
    dx, dy = oracle.run(found)["f_vjp"](0.3, np.array([0.5]), np.array([2.0]))
    np.testing.assert_allclose([dx, dy[0]], [np.cos(0.3), 2 * np.sin(0.3)])
    assert re.match(r'"""Doc."""\nimport math\nimport numpy as np\n\n\ndef f', found)


def test_a_file_without_numpy_may_write_lists_into_arrays_and_call_what_writes():
    text = """def double(x):
    x[0] = x[1] * 2.0


def f(x):
    y = x * 1.0
    y[:2] = [x[1] * x[0], 2.0]
    double(y)
    return y[0] * y[2]
"""
    dx = oracle.run(inserted(text, mode="grad"))["f_grad"](np.array([2.0, 3.0, 5.0]))
    np.testing.assert_allclose(dx, [0.0, 0.0, 4.0])


def test_numpy_that_a_file_uses_and_does_not_import_is_not_added():
    derivative, problems = differentiate(oracle.program("def f(x):\n    return np.sum(x)\n"), "f")
    assert derivative is None and "np" in problems[0].message


def test_a_file_without_any_import_keeps_its_first_comments_first():
    text = "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\ndef f(x, y):\n    return x * y\n"
    found = inserted(text)
    assert found.startswith("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport numpy as np\n\n\ndef f")
    np.testing.assert_allclose(oracle.run(found)["f_vjp"](X, Y, np.ones(3))[0], np.full(3, Y))


def test_a_future_import_stays_first():
    text = "from __future__ import annotations\n\n\ndef f(x, y):\n    return x * y\n"
    found = inserted(text)
    assert found.startswith("from __future__ import annotations\nimport numpy as np\n")
    oracle.run(found)


def test_no_import_where_none_is_needed():
    text = "def f(x: float, y: float):\n    return x * y\n"
    assert "import" not in inserted(text)


def test_helpers_may_be_imported():
    found = inserted("\n".join(LINES) + "\n", helpers="import")
    assert_right(found)
    assert "from lsp_ad.runtime import unbroadcast\n" in found
    assert "def unbroadcast" not in found


def test_an_unknown_way_of_helpers_is_an_error():
    with pytest.raises(ValueError, match="inline or import"):
        inserted("\n".join(LINES) + "\n", helpers="paste")


def test_the_function_in_the_middle_and_the_one_at_the_end():
    text = "\n".join(LINES) + "\n\n\ndef g(x):\n    return x * x"
    both = inserted(inserted(text), "g")
    assert_right(both)
    order = [both.index(f"def {name}(") for name in ("f", "f_vjp", "g", "g_vjp")]
    assert order == sorted(order)
    assert both.endswith("\n")


def test_two_empty_lines_stand_between_functions():
    found = inserted("\n".join(LINES) + "\n\n\nK = 3\n")
    for name in ("unbroadcast", "f_vjp"):
        assert f"\n\n\ndef {name}(" in found and f"\n\n\n\ndef {name}(" not in found
    assert re.search(r"return dx, dy\n\n\nK = 3\n$", found)


def test_the_users_lines_are_kept_with_comments_and_layout():
    kept = "    # the wave\n    z = np.sin( x )  # sine\n"
    text = f"import numpy as np\n\n\ndef f(x, y):\n{kept}    return z * y\n"
    assert kept in inserted(text).split("def f_vjp")[1]
