"""What is refused, where, why, and what to do: the text between « and » is what the problem must point at."""

from __future__ import annotations

import pytest

from lsp_ad.differentiate import differentiate
from lsp_ad.problems import Severity
from tests import oracle

pytestmark = pytest.mark.row("T30")

HEAD = "import numpy as np\nfrom elsewhere import model\n\n"


def refused(marked: str, wrt=None, name: str = "f"):
    """The first problem of the marked program, after checking that it points at the marked text."""
    source = HEAD + marked.strip("\n") + "\n"
    start, end = source.index("«"), source.index("»") - 1
    source = source.replace("«", "").replace("»", "")
    program = oracle.program(source)
    assert not program.parsed.problems, program.parsed.problems
    derivative, problems = differentiate(program, name, wrt)
    assert derivative is None
    found = problems[0]
    lines = program.parsed.document.lines
    at = found.span
    offsets = lines.offset(at.line, at.column), lines.offset(at.end_line, at.end_column)
    assert offsets == (start, end), f"{source[slice(*offsets)]!r}: {found}"
    assert found.severity is Severity.ERROR
    assert found.way_out
    return found


STATEMENTS = {
    "with": ("AD101", "with «model(x)» as y:\n        pass", "`with model(x)` may change what its block"),
    "contextlib.suppress": (
        "AD101",
        "y = x\n    with «suppress(ValueError)»:\n        y = x * x",
        "`with suppress(ValueError)` may change",
    ),
    "as of a with": ("AD101", "with np.errstate() as «y»:\n        pass", "binds a name"),
    "del of an element": ("AD301", "y = [x, x]\n    del «y[0]»", "`del y[0]` changes `y` in place"),
    "import under a condition": (
        "AD101",
        "if len(x):\n        «import» math as y",
        "`import` under a condition",
    ),
    "import of a name in a loop": (
        "AD101",
        "y = x\n    for k in x:\n        «from» os import path",
        "`import`",
    ),
    "try that changes a list": (
        "AD101",
        "y = [x]\n    try:\n        «y.append(x[7])»\n    except IndexError:\n        pass\n    y = y[0]",
        "change of a list inside a `try`",
    ),
    "try that assigns before it raises": (
        "AD101",
        "y = x\n    try:\n        «y = x * y»\n        z = x[7]\n    except IndexError:\n        z = y\n    y = y * z",
        "`y` is assigned in a `try` before a step that may raise",
    ),
    "try with a computed exception": (
        "AD101",
        "y = x\n    try:\n        y = x[7]\n    except «errors()[0]»:\n        pass",
        "`except`",
    ),
    "try with an augmented assignment": (
        "AD101",
        "y = x * x\n    try:\n        «y += x»\n    except FloatingPointError:\n        pass",
        "half changed",
    ),
    "finally": (
        "AD101",
        "y = x\n    try:\n        y = x[7]\n    finally:\n        «y = x»",
        "`finally`",
    ),
    "a write by a method in finally": (
        "AD101",
        "y = x * 1\n    try:\n        z = x[7]\n    finally:\n        «y.fill(0.5)»",
        "`finally`",
    ),
    "a write by a function in finally": (
        "AD101",
        "y = x * 1\n    try:\n        z = x[7]\n    finally:\n        «np.add.at(y, [0], x[0])»",
        "`finally`",
    ),
    "a change of a list in finally": (
        "AD101",
        "y = [x]\n    try:\n        z = x[7]\n    finally:\n        «y.append(x)»\n    y = y[1]",
        "`finally`",
    ),
    "a write by a method in a try": (
        "AD101",
        "y = x * 1\n    try:\n        «y.fill(0.5)»\n        z = x[7]\n    except IndexError:\n        pass",
        "A write in place inside a `try`",
    ),
    "a write by a function in a try": (
        "AD101",
        "y = x * 1\n    try:\n        «np.copyto(y, 0.5)»\n    except IndexError:\n        pass",
        "A write in place inside a `try`",
    ),
    "a write of a result in a try": (
        "AD101",
        "y = x * 1\n    try:\n        «np.sin(x, out=y)»\n    except IndexError:\n        pass",
        "A write in place inside a `try`",
    ),
    "nonlocal": ("AD205", "def g():\n        «nonlocal x»\n        x = 1.0\n    y = g()", "assigns `x`"),
    "class": ("AD101", "«class» y:\n        pass", "`class`"),
    "global": ("AD101", "«global» y\n    y = x", "global `y` is assigned"),
    "match of a sequence": (
        "AD101",
        "y = x\n    match x:\n        case «(1, z)»:\n            y = z",
        "pattern of `match`",
    ),
    "match of a class": (
        "AD101",
        "y = x\n    match x:\n        case «float()»:\n            y = 2 * x",
        "pattern of `match`",
    ),
    "a walrus after a read": ("AD102", "y = x\n    z = y + («y := x * x»)", "`y` is read before `:=`"),
    "an iterator that is read twice": (
        "AD102",
        "y = «zip(x, x)»\n    for a, b in y:\n        pass\n    y = y",
        "iterator under a name",
    ),
    "an iterator in an outer loop": (
        "AD102",
        "y = x\n    z = «enumerate(x)»\n    for k in range(2):\n        for i, a in z:\n            y = y * a",
        "iterator under a name",
    ),
    "a value that is not used": ("AD101", "y = x\n    «y * 2»", "without a value that is used"),
    "element of a value without a name": ("AD301", "«np.sin(x)[0]» = 0.0", "in place"),
    "target of a for": ("AD301", "y = x * 1\n    for «y[0]» in x:\n        pass", "in place"),
    "np.put": ("AD301", "y = x * 1\n    «np.put(y, 0, x[0])»", "writes into its argument"),
    "attribute": ("AD301", "y = x * 1\n    «y.shape» = (3,)", "changes an attribute"),
    "append to a list with two names": (
        "AD302",
        "y = [x]\n    «z = y»\n    y.append(x)\n    y = z[0]",
        "may have another name",
    ),
    "a list that is changed while a loop goes over it": (
        "AD302",
        "z = [x]\n    «for y in z:\n        z.append(y)»",
        "may have another name",
    ),
    "an item that may have another name": (
        "AD302",
        "t = [x, x]\n    «t[0] += x»\n    y = t[0]",
        "may change an array in place that has another name",
    ),
    "a row of a table that has a name": (
        "AD301",
        "t = [[0.0] * 2 for i in range(2)]\n    y = t[0]\n    «t[0][1]» = x\n    y = y[1]",
        "in place",
    ),
    "rows that are one": ("AD301", "t = [[0.0] * 2] * 2\n    «t[0][1]» = x\n    y = t[1][1]", "in place"),
    "a dictionary with two names": (
        "AD301",
        "d = {'a': x}\n    e = d\n    «e['a']» = x * x\n    y = d['a']",
        "e",
    ),
    "a list in a list that changes": (
        "AD302",
        "z = []\n    «y = [z, z]»\n    z.append(x)\n    y = y[0][0]",
        "may have another name",
    ),
    "remove": ("AD301", "y = [x]\n    «y.remove(x)»", "`y.remove(...)` changes `y` in place"),
    "bare return": ("AD104", "y = x\n    if np.sum(x) > 0:\n        «return»", "gives no value"),
}


@pytest.mark.parametrize(("code", "body", "words"), STATEMENTS.values(), ids=STATEMENTS)
def test_statement(code, body, words):
    found = refused(f"def f(x):\n    {body}\n    return y * x\n")
    assert (found.code, words in found.message) == (code, True), found


EXPRESSIONS = {
    "eval": ("AD105", "«eval('x')»", "`eval` runs or reads what the text does not show"),
    "getattr": ("AD105", "«getattr(x, 'T')»", "`getattr`"),
    "globals": ("AD105", "«globals()»['x']", "`globals`"),
    "a function of elsewhere": ("AD201", "«model(x)»", "no derivative rule for `model` (elsewhere.model)"),
    "a function of numpy without a rule": ("AD201", "«np.busday_count(x, x)»", "`np.busday_count`"),
    "a name that nothing binds": ("AD201", "«nowhere(x)»", "`nowhere`"),
    "a parameter that is called": ("AD201", "«g(x)»", "`g`"),
    "a method without a rule": ("AD201", "«x.tobytes()»", "`x.tobytes`"),
    "an attribute of numpy that is not known": ("AD201", "x * «np.little_endian»", "np.little_endian"),
    "an attribute that is not known": ("AD102", "x * «x.itemsize»", "`x.itemsize`"),
    "lambda": ("AD102", "np.sum(«lambda z: z») * x", "lambda"),
    "generator as a value": ("AD102", "np.sum(np.stack(«(e * e for e in x)»))", "is not used up at once"),
    "comprehension under a condition": (
        "AD102",
        "x[0] and sum(«[e * e for e in x]»)",
        "only under a condition",
    ),
    "set": ("AD102", "np.sum(«{1, 2}») * x", "set"),
    "starred argument": ("AD102", "np.add(«*x»)", "starred"),
    "zip as a value": ("AD102", "np.sum(«zip(x, x)») * x", "`zip` is supported as what a `for` goes over"),
    "an option": ("AD202", "«np.sum(x, where=x > 0)»", "where"),
    "max with a key": ("AD202", "«max(x, 1.0, key=abs)»", "the options are not supported"),
    "out=": ("AD301", "«np.exp(x, out=x)»", "`np.exp(..., out=...)` writes into an array in place"),
    "out= of a method": ("AD301", "«x.sum(out=x)»", "in place"),
}


@pytest.mark.parametrize(("code", "expression", "words"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_expression(code, expression, words):
    found = refused(f"def f(x, g):\n    return {expression}\n", wrt=["x"])
    assert (found.code, words in found.message) == (code, True), found


FUNCTIONS = {
    "starred parameters": ("AD103", "def f(*«xs»):\n    return xs[0]", "`xs` takes any number of arguments"),
    "keywords of any name": ("AD103", "def f(x, **«more»):\n    return x * 2", "`more`"),
    "a decorator": (
        "AD103",
        "@«model»\ndef f(x):\n    return x * x",
        "decorator `model` may change what `f`",
    ),
    "a decorator that is called": ("AD103", "@«model(3)»\ndef f(x):\n    return x * x", "decorator `model`"),
    "a path without a value": (
        "AD104",
        "def «f»(x):\n    if x > 0:\n        return x",
        "may end without returning",
    ),
    "no return at all": ("AD104", "def «f»(x):\n    y = x * x", "may end without returning"),
    "a callee that is refused": (
        "AD203",
        "def g(x):\n    return eval('x')\n\ndef f(x):\n    return x * «g(x)»",
        "`g`, which is called here, cannot be differentiated: line 5",
    ),
    "a callee of a callee": (
        "AD203",
        "def h(x):\n    return eval('x')\n\ndef g(x):\n    return h(x)\n\ndef f(x):\n    return «g(x)»",
        "`g`",
    ),
    "too many arguments": (
        "AD203",
        "def g(x):\n    return x * x\n\ndef f(x):\n    return «g(x, 2)»",
        "takes 1 positional arguments, but 2 are given",
    ),
    "too few arguments": (
        "AD203",
        "def g(x, y):\n    return x * y\n\ndef f(x):\n    return «g(x)»",
        "needs the argument `y`",
    ),
    "starred arguments": (
        "AD205",
        "def g(x, y=1.0):\n    return x * y\n\ndef f(x):\n    return g(«*x»)",
        "how many arguments",
    ),
    "an argument without a derivative": (
        "AD204",
        "def f(x):\n    y = 3.0 * «np.copysign(2.0, x)»\n    return y * x",
        "`np.copysign(2.0, x)`: there is no derivative of `numpy.copysign` with respect to `x2`",
    ),
    "a name that generated code needs": (
        "AD506",
        "def f(x, «unbroadcast»):\n    return x * unbroadcast",
        "needs the name `unbroadcast` for its helper function",
    ),
    "a walrus in a comprehension": (
        "AD102",
        "def f(x):\n    y = «[v * (w := 2.0) for v in x]»\n    return sum(y) * w",
        "inside a comprehension",
    ),
    "a list or an array": (
        "AD401",
        "def f(x):\n    y = «[x, 2.0] if len(x) > 2 else x * 2.0»\n    z = y * 2.0\n    return np.sum(z)",
        "`y` holds different kinds of things",
    ),
    "a form of a function inside an expression": (
        "AD202",
        "def f(x):\n    return 1.0 + np.sum(«np.linspace(0.0, x, 3)»)",
        "`np.linspace(0.0, x, 3)`: this form is not supported",
    ),
    "read before it is assigned": (
        "AD403",
        "def f(x):\n    z = «y» * x\n    y = z\n    return y",
        "`y` is read before it is assigned",
    ),
    "no float parameter": ("AD502", "def «f»(n: int):\n    return n * 2.0", "`f` has no float parameter"),
    "the result does not depend": ("AD503", "def «f»(x):\n    return 2.0", "does not depend on `x`"),
    "depends through a comparison only": (
        "AD503",
        "def «f»(x):\n    return np.sum(x > 0.0)",
        "it is zero everywhere",
    ),
}


@pytest.mark.parametrize(("code", "source", "words"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_function(code, source, words):
    found = refused(source)
    assert (found.code, words in found.message) == (code, True), found


REQUESTS = {
    "an unknown parameter": ("AD501", ["z"], "`f` has no parameter 'z'; it has x, n, y"),
    "an index too far": ("AD501", [3], "has no parameter 3"),
    "a parameter twice": ("AD501", ["x", 0], "`x` is named twice"),
    "an int": ("AD502", ["n"], "`n` of `f` is of type int"),
    "one that the result does not depend on": ("AD503", ["y"], "does not depend on `y`"),
    "one of two": ("AD503", ["x", "y"], "does not depend on `y`"),
}


@pytest.mark.parametrize(("code", "wrt", "words"), REQUESTS.values(), ids=REQUESTS)
def test_request(code, wrt, words):
    found = refused("def «f»(x, n: int, y):\n    return x * n\n", wrt)
    assert (found.code, words in found.message) == (code, True), found


def test_a_function_that_is_not_there():
    derivative, (found,) = differentiate(oracle.program("def f(x):\n    return x\n"), "g")
    assert derivative is None
    assert (found.code, "no function `g`" in found.message) == ("AD504", True)
    assert found.way_out


def test_a_function_that_is_defined_twice():
    found = refused("def f(x):\n    return x\n\ndef «f»(x):\n    return x * x\n")
    assert (found.code, "exactly once" in found.message) == ("AD504", True)


def test_a_file_that_does_not_parse():
    derivative, (found,) = differentiate(oracle.program("def f(x):\n    return x +\n"), "f")
    assert derivative is None
    assert (found.code, found.span.line) == ("SRC001", 2)


def test_every_reason_is_told_at_once():
    source = "def f(x):\n    y = eval('x')\n    x.y = 1.0\n    return nowhere(y)\n"
    _, problems = differentiate(oracle.program(source), "f")
    assert [p.code for p in problems] == ["AD105", "AD301", "AD201"]
    assert [p.span.line for p in problems] == [2, 3, 4]


def test_a_callee_that_is_refused_names_the_place():
    source = "def g(x):\n    y = x\n    return eval('y')\n\ndef f(x):\n    return g(x)\n"
    _, (found,) = differentiate(oracle.program(source), "f")
    assert [(r.span.line, "`eval`" in r.message) for r in found.related] == [(3, True)]


def test_places_count_characters_not_bytes():
    found = refused("def f(größe):\n    breite = größe  # äöü\n    return breite * «eval('größe')»\n")
    assert found.code == "AD105"
