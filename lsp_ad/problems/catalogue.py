"""Every problem code, with its severity, a page for `lsp-ad explain` and an example.

Families: SRC (the text itself), ADx (differentiation refused: 1 constructs, 2 calls, 3 memory,
4 values, 5 requests), STG (staging, in `staging_codes.py`). A code is never reused for another meaning.
"""

from __future__ import annotations

from lsp_ad.problems.entry import Entry
from lsp_ad.problems.staging_codes import STAGING


def _entries(*entries: Entry) -> dict[str, Entry]:
    return {e.code: e for e in entries}


CATALOGUE: dict[str, Entry] = _entries(
    Entry(
        "SRC001",
        "syntax-error",
        "error",
        "The file is not valid Python, so nothing in it can be differentiated.",
        "Mend the syntax; until then the last good version is shown.",
        "def f(x):\n    return x +\n",
    ),
    Entry(
        "AD101",
        "unsupported-statement",
        "error",
        "A statement that the differentiator does not know.",
        "Rewrite it with assignments, if, for or while, or move it out of the function.",
        "def f(x):\n    with open('log'):\n        return x * x\n",
        "Differentiation works from an allow-list: what no pass claims is refused, never guessed.",
    ),
    Entry(
        "AD102",
        "unsupported-expression",
        "error",
        "An expression that the differentiator does not know, on a path that carries a derivative.",
        "Compute it with arithmetic or NumPy functions, or outside the differentiated function.",
        "def f(x):\n    return np.sum({x, 2.0})\n",
    ),
    Entry(
        "AD103",
        "unsupported-signature",
        "error",
        "A parameter form that generated code cannot repeat.",
        "Name the parameters one by one.",
        "def f(*xs):\n    return xs[0]\n",
    ),
    Entry(
        "AD104",
        "no-value",
        "error",
        "A path through the function ends without returning a value.",
        "End every path with `return value`.",
        "def f(x):\n    if x > 0:\n        return x\n",
    ),
    Entry(
        "AD105",
        "dynamic-code",
        "error",
        "`eval`, `exec`, `globals` and their like: what runs cannot be known from the text.",
        "Write the expression out.",
        "def f(x):\n    return eval('x * x')\n",
    ),
    Entry(
        "AD201",
        "unknown-function",
        "error",
        "A call of a function that has no derivative rule and no definition in this file.",
        "Define it in this file, or use a function of the rule table.",
        "from elsewhere import model\n\ndef f(x):\n    return model(x)\n",
    ),
    Entry(
        "AD202",
        "unsupported-option",
        "error",
        "A library function is known, but not with this argument or option.",
        "Use the function without that option.",
        "import numpy as np\n\ndef f(x):\n    return np.sum(x, where=x > 0)\n",
    ),
    Entry(
        "AD203",
        "callee-refused",
        "error",
        "A function that is called here cannot be differentiated itself.",
        "See the related place.",
        "def g(x):\n    return eval('x')\n\ndef f(x):\n    return g(x)\n",
    ),
    Entry(
        "AD204",
        "no-derivative",
        "error",
        "A function that is known, but whose derivative does not exist or is not known.",
        "Keep it off the path from the parameters to the result.",
        "import numpy as np\n\ndef f(x):\n    return np.copysign(2.0, x)\n",
    ),
    Entry(
        "AD205",
        "unknown-function-value",
        "error",
        "It cannot be followed which function is called, or what a function is used for.",
        "Call the function by the name under which it is defined, or hand it to a function of this file.",
        "def f(x):\n    def g(t):\n        return x * t\n    return [g][0](x)\n",
        "Nested functions, lambdas, functools.partial and functions as arguments are followed "
        "as long as each name stands for one function.",
    ),
    Entry(
        "AD301",
        "in-place-write",
        "error",
        "A list or an object is changed in place, or an array in a way that is not known.",
        "Write into an array with an index (`a[s] = e`), or build a new value.",
        "def f(model, x):\n    model.x = x\n    return x.sum()\n",
    ),
    Entry(
        "AD302",
        "possible-alias",
        "error",
        "A write may change an array that has another name, which is read later.",
        "Copy the array first, or write `x = x + ...`, which makes a new one.",
        "def f(x):\n    y = x\n    y += 1\n    return x * y\n",
    ),
    Entry(
        "AD401",
        "unknown-structure",
        "error",
        "It cannot be told from the text what kind of value this is, and the derivative depends on it.",
        "Annotate the parameter (`x: np.ndarray`, `n: int`) or give its shape in the docstring.",
        "def f(x):\n    if x > 0:\n        return x, x\n    return x\n",
    ),
    Entry(
        "AD402",
        "not-real",
        "error",
        "A value that is not a real number stands on the path of the derivative.",
        "Return real numbers: a real or an imaginary part, or an absolute value.",
        "def f(x):\n    return x * 1j\n",
    ),
    Entry(
        "AD403",
        "maybe-unbound",
        "error",
        "A name may be read before it is assigned.",
        "Assign it on every path before it is read.",
        "def f(x):\n    z = y * x\n    y = z\n    return y\n",
    ),
    Entry(
        "AD404",
        "object-as-a-whole",
        "error",
        "An object is used in a way in which its fields cannot be followed.",
        "Read its fields (`p.x`), and pass it to functions and methods whose text is known.",
        "from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: float\n\n"
        "def f(p: P):\n    q = [p]\n    return q[0].x\n",
    ),
    Entry(
        "AD501",
        "unknown-parameter",
        "error",
        "The derivative was asked for with respect to a parameter that does not exist.",
        "Name a parameter of the function, or give its index.",
        "lsp_ad.grad(f, wrt='z')\n",
    ),
    Entry(
        "AD502",
        "not-differentiable-parameter",
        "error",
        "The derivative was asked for with respect to a parameter that is not a float or an array of floats.",
        "Leave it out of wrt.",
        "def f(x, n: int):\n    return x * n\n",
    ),
    Entry(
        "AD503",
        "independent-result",
        "error",
        "The result does not depend on the parameter: the derivative is zero everywhere.",
        "Leave it out of wrt, or use the parameter.",
        "def f(x, y):\n    return x * 2.0\n",
    ),
    Entry(
        "AD504",
        "unknown-function-name",
        "error",
        "There is no function of that name in the file.",
        "Name a function that is defined with `def` at the top level of the file.",
        "lsp-ad grad model.py::los\n",
    ),
    Entry(
        "AD505",
        "no-source",
        "error",
        "The text of the function cannot be found.",
        "Define the function in a file.",
        "lsp_ad.grad(np.sin)\n",
    ),
    Entry(
        "AD506",
        "name-taken",
        "error",
        "A name that the generated code needs stands for something else in the function or the file.",
        "Rename one of them.",
        "def f(x, unbroadcast):\n    return x * unbroadcast\n",
    ),
    Entry(
        "AD507",
        "not-one-array",
        "error",
        "A Hessian or a Jacobian was asked for, and a result or a parameter is no single number or array.",
        "Write a function of arrays that calls it, and that returns one.",
        "lsp-ad hessian model.py::pair_of_arrays\n",
    ),
    Entry(
        "AD601",
        "unsuitable-insertion",
        "error",
        "Code for the backward sweep is not of a form that leaves the function itself as it is.",
        "Assign only the adjoint and names of the block; use the adjoint before anything has an effect.",
        "import lsp_ad\n\ndef f(x):\n    with lsp_ad.insert_grad_of(x) as dx:\n        print('here')\n"
        "    return x * x\n",
        "The body of `with lsp_ad.insert_grad_of(x) as dx:` runs in the backward sweep. The function itself "
        "leaves it where `dx` is first used, so that it computes what it would without the block.",
    ),
    Entry(
        "AD602",
        "unsuitable-declaration",
        "error",
        "The declared derivative of a function is not of a form that can be used.",
        "Give the rule as a function of the file that takes what it is called with and returns a value for "
        "each parameter.",
        "import lsp_ad\n\ndef g_vjp(x, dy):\n    return dy * x\n\n@lsp_ad.custom_vjp(g_vjp)\n"
        "def g(x):\n    return x * x\n\ndef f(x):\n    return g(x)\n",
        "`custom_vjp(rule)` calls `rule(a, b, y, dy)` for a function of a and b: the arguments, the result "
        "and its adjoint; it returns the adjoints of a and b, None for one that has none. "
        "`custom_jvp(rule)` calls `rule(a, b, y, da, db)` and takes the tangent of y.",
    ),
    Entry(
        "AD603",
        "bad-settings",
        "error",
        "The settings of the project cannot be used.",
        "Mend the entry; until then nothing is differentiated by rules that may not be what was meant.",
        '[tool.lsp-ad.rules]\n"scipy.special.erfcx" = { parameters = "x", z = "dy" }\n',
        "Settings stand in `lsp-ad.toml`, or in pyproject.toml below `[tool.lsp-ad]`, in the directory of "
        "the file or nearest above it. A rule gives the adjoint of each parameter in the parameters, the "
        "result `y` and its adjoint `dy`.",
    ),
    Entry(
        "AD604",
        "unsuitable-checkpoint",
        "error",
        "A checkpointed loop is not of a form that can be run again in parts.",
        "Let it hold one loop over a range, a sequence or zip of sequences, or one while loop, which changes "
        "nothing in place.",
        "import lsp_ad\n\ndef f(x):\n    with lsp_ad.checkpoint(every=0):\n        for _ in range(9):\n"
        "            x = x * x\n    return x\n",
        "The backward sweep runs the iterations between two kept states again, so these must compute the "
        "same as the first time.",
    ),
    *STAGING,
)


def entry(code: str) -> Entry:
    """The entry of a code, of its name (`in-place-write`), in any case; KeyError for an unknown one."""
    wanted = code.strip().upper()
    if wanted in CATALOGUE:
        return CATALOGUE[wanted]
    for known in CATALOGUE.values():
        if known.name.upper() == wanted:
            return known
    raise KeyError(code)
