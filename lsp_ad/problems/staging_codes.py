"""The codes of staging: STG1 decided while tracing, 2 what no traced value does, 3 effects, 4 control flow,
5 what cannot be converted.
"""

from __future__ import annotations

from lsp_ad.problems.entry import Entry

STAGING: tuple[Entry, ...] = (
    Entry(
        "STG101",
        "python-value-decides",
        "warning",
        "In a staged function, a Python value decides a conditional when the function is traced.",
        "Pass an array and use the back end's conditional, or mark the argument static.",
        "import jax\n\nUSE_RELU = True\n\n@jax.jit\ndef f(x):\n"
        "    if USE_RELU:\n        x = x * (x > 0)\n    return x\n",
        "Under jax.jit, tf.function and lsp_ad.staged only a traced value stages a conditional. A global, "
        "a default, a constant or `(x > 0) is True` is a Python value: it picks a branch, or unrolls a "
        "loop, when the function is traced, and what was picked stays when the value changes later.",
    ),
    Entry(
        "STG102",
        "deliberate-flag",
        "information",
        "In a staged function, a flag or a test of form chooses the branch when the function is traced.",
        "Nothing to do if that is meant.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x, training: bool):\n"
        "    if training:\n        x = x * 2\n    return x\n",
        "Parameters annotated bool, int, str or Literal, static arguments, shapes, `isinstance` and "
        "`is None` are plainly meant to be decided in Python: each value has a trace of its own. So are "
        "what a caller writes out for a helper, and attributes that only the constructor sets.",
    ),
    Entry(
        "STG103",
        "identity-of-traced",
        "warning",
        "`is` compares a traced value with True, False or another traced value.",
        "Test the value, without `is`.",
        "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef f(x):\n    if (x > 0) is True:\n        "
        "return x\n    return -x\n",
        "While a function is traced, `x > 0` is an object that stands for True or False and is "
        "neither, so `is True` is false whatever x is; the branch is chosen without a word. (The same "
        "holds for `np.bool_` in plain NumPy.)",
    ),
    Entry(
        "STG104",
        "unrolled-loop",
        "hint",
        "A loop over a Python range in a staged function is unrolled: its body is staged once for each "
        "number.",
        "Use the loop of the back end where the function takes long to compile.",
        "import jax\n\n@jax.jit\ndef f(x):\n    for i in range(5):\n        x = x * i\n    return x\n",
        "It is right, and often meant. From a hundred iterations on it is an information. `lsp-ad "
        "check` leaves hints out; `lsp-ad check --staging-report` lists all loops.",
    ),
    Entry(
        "STG105",
        "traced-each-time",
        "warning",
        "A function is traced again for each round of a loop: it is made there, or gets another static "
        "number each time.",
        "Make the function before the loop, and pass numbers as arrays.",
        "import jax\n\ndef train(xs):\n    for x in xs:\n        jax.jit(lambda a: a * a)(x)\n",
        "A trace takes a thousand times as long as a call. jax.jit keeps traces by function and static "
        "arguments, tf.function also by every Python number.",
    ),
    Entry(
        "STG106",
        "must-stage",
        "error",
        "What `must_stage` marks is decided in Python.",
        "Let it depend on an array, or drop the mark.",
        "import jax\nimport lsp_ad\n\n@jax.jit\n@lsp_ad.staged\ndef f(x, debug: bool = False):\n    if "
        "lsp_ad.must_stage(debug):\n        x = -x\n    return x\n",
    ),
    Entry(
        "STG107",
        "frozen-call",
        "warning",
        "A random number, a clock or the like in a traced function.",
        "Pass it as an argument.",
        "import jax\nimport numpy as np\n\n@jax.jit\ndef f(x):\n    return x + np.random.normal()\n",
        "The function is called while tracing, and what it gave becomes a constant: dropout always "
        "drops the same, a clock stands still.",
    ),
    Entry(
        "STG108",
        "frozen-state",
        "warning",
        "A traced function reads a global, or an attribute of `self`, that changes while the program "
        "runs.",
        "Pass it as an argument.",
        "import jax\n\nSCALE = 1.0\n\ndef set_scale(value):\n    global SCALE\n    SCALE = value\n\n"
        "@jax.jit\ndef f(x):\n    return x * SCALE\n",
        "Tracing reads it once; the compiled function has the value of that time.",
    ),
    Entry(
        "STG109",
        "type-of-traced",
        "warning",
        "`isinstance` asks if a traced value is a number of Python or an array of NumPy.",
        "Ask for its dtype (`jnp.issubdtype(x.dtype, jnp.floating)`), or before the call.",
        "import jax\n\n@jax.jit\ndef f(x):\n    if isinstance(x, float):\n        x = x * 2.0\n"
        "    return x\n",
        "While a function is traced, a stand-in takes the place of the number, so the test is False even "
        "where the function is called with a float; the branch is chosen without a word.",
    ),
    Entry(
        "STG201",
        "condition-is-traced",
        "error",
        "`if`, `while`, `assert` or a conditional expression on a traced value, in a function that "
        "nothing converts.",
        "Use jnp.where or jax.lax.cond, or put lsp_ad.staged around the function.",
        "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef f(x):\n    if jnp.sum(x) > 0:\n        x "
        "= -x\n    return x\n",
        "jax.jit traces a function by calling it with stand-ins for its arguments, which have no truth "
        "value: TracerBoolConversionError. lsp_ad.staged turns the statement into jax.lax.cond. "
        "tf.function does so itself, but for `assert`.",
    ),
    Entry(
        "STG202",
        "logic-on-traced",
        "error",
        "`and`, `or`, `not`, a chained comparison or `in` on a traced value, where nothing converts it.",
        "Use `&`, `|`, `~` on comparisons, or put lsp_ad.staged around the function.",
        "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef f(x):\n    return jnp.where(0 < x.sum() "
        "< 1, x, -x)\n",
        "tf.function converts all but `in`, lsp_ad.staged all.",
    ),
    Entry(
        "STG203",
        "python-function-of-traced",
        "error",
        "min, max, any, all or sorted of Python on a traced value.",
        "Use the function of the library: jnp.maximum, tf.maximum.",
        "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef f(x):\n    return max(x, 0.0)\n",
        "They compare their arguments and ask for the truth of the result. The builtin abs works, so "
        "does sum with JAX; lsp_ad.staged converts min and max.",
    ),
    Entry(
        "STG204",
        "number-of-traced",
        "error",
        "int, float, bool, math.sin, `.item()`, `.numpy()` or `.tolist()` on a traced value.",
        "Keep the array: `x.astype(int)`, jnp.sin(x).",
        "import jax\n\n@jax.jit\ndef f(x):\n    return float(x)\n",
        "The number is known only when the function runs. tf.function converts int and float.",
    ),
    Entry(
        "STG205",
        "shape-is-traced",
        "error",
        "A shape, size, axis, bound of a slice or boolean mask that is traced.",
        "Mark the argument static, or take it from a shape.",
        "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef f(x, n):\n    return jnp.zeros(n) + "
        "x.sum() / n\n",
        "jax.jit compiles for shapes that are known: TracerIntegerConversionError, "
        "ConcretizationTypeError, NonConcreteBooleanIndexError. The index of a single element may be "
        "traced.",
    ),
    Entry(
        "STG206",
        "numpy-on-traced",
        "error",
        "A function of NumPy on a traced value.",
        "Use the function of the same name of jnp or tf.",
        "import jax\nimport numpy as np\n\n@jax.jit\ndef f(x):\n    return np.sin(x)\n",
        "It asks for an array of numbers: TracerArrayConversionError, NotImplementedError. Functions "
        "such as np.sum that call a method of their argument work with JAX. lsp_ad.staged turns "
        "functions of NumPy into those of the back end.",
    ),
    Entry(
        "STG207",
        "iteration-of-tensor",
        "error",
        "A comprehension, or an assignment to several names, goes over a tensor under tf.function.",
        "Use tf.map_fn, or tf.unstack where the length is known.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    a, b = tf.sin(x)\n    return a * b\n",
        "tf.function converts `for` statements and nothing else that iterates.",
    ),
    Entry(
        "STG208",
        "text-of-traced",
        "warning",
        "A text is made of a traced value.",
        "Use jax.debug.print or tf.print, which print when the function runs.",
        "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef f(x):\n    name = f\"{jnp.sum(x)}\"\n    "
        "return {name: x}\n",
        "The text names the stand-in for the value (`JitTracer(float32[])`), and is made once, when "
        "the function is traced. With a format (`{x:.2f}`) it fails.",
    ),
    Entry(
        "STG209",
        "self-is-traced",
        "error",
        "jax.jit around a method whose `self` is an object that JAX cannot trace.",
        "Mark `self` static, or pass what the method needs as arguments.",
        "import jax\n\nclass Model:\n    def __init__(self):\n        self.scale = 2.0\n\n    @jax.jit\n"
        "    def __call__(self, x):\n        return x * self.scale\n\ndef run(x):\n    return Model()(x)\n",
        "The object is the first argument, and no array or pytree: TypeError. A static one is read once, "
        "when the method is traced. A class that is registered as a pytree, as those of Equinox are, may "
        "be traced.",
    ),
    Entry(
        "STG301",
        "effect-of-trace",
        "warning",
        "A traced function prints, writes a file, or changes something outside.",
        "Return what is to be kept; print with jax.debug.print or tf.print.",
        "import jax\n\n@jax.jit\ndef f(x):\n    print(x)\n    return x * x\n",
        "It happens when the function is traced: once, not at each call, and with stand-ins for the "
        "values. A text without values (`print(\"tracing\")`) is an information.",
    ),
    Entry(
        "STG302",
        "leaked-tracer",
        "warning",
        "A traced value is stored in something that outlives the trace.",
        "Return it.",
        "import jax\n\nhistory = []\n\n@jax.jit\ndef f(x):\n    y = x * x\n    history.append(y)\n    "
        "return y\n",
        "What is stored is a stand-in that means nothing once the trace is over: "
        "UnexpectedTracerError, InaccessibleTensorError where it is used.",
    ),
    Entry(
        "STG303",
        "hidden-change",
        "error",
        "A helper, called in a staged branch or loop, changes a list, an object or a variable of its caller.",
        "Return the new value, and assign it in the branch or loop.",
        "import tensorflow as tf\n\ndef bump(cell):\n    cell[0] += 1\n\n@tf.function\ndef f(x):\n"
        "    cell = [0]\n    while tf.reduce_sum(x) > 1.0:\n        bump(cell)\n        x = x / 2.0\n"
        "    return cell[0]\n",
        "What a staged block changes is seen from its own text. A change in a function that it calls happens "
        "once, when the block is traced: three iterations count one.",
    ),
    Entry(
        "STG304",
        "iterator-in-trace",
        "warning",
        "A traced function takes items of an iterator from outside.",
        "Pass the items as an array.",
        "import jax\n\nnumbers = iter([1, 2, 3])\n\n@jax.jit\ndef f(x):\n    return x * next(numbers)\n",
    ),
    Entry(
        "STG305",
        "key-reuse",
        "warning",
        "A key of jax.random is used twice.",
        "Split it first: `key, subkey = jax.random.split(key)`.",
        "import jax\n\n@jax.jit\ndef f(key):\n    a = jax.random.normal(key)\n    b = "
        "jax.random.normal(key)\n    return a + b\n",
        "The same key gives the same numbers. Two branches of which one runs may share a key; "
        "jax.random.fold_in does not use one up.",
    ),
    Entry(
        "STG306",
        "append-in-staged-block",
        "error",
        "A Python list gets a tensor in a loop or branch that tf.function stages, and is read afterwards.",
        "Use tf.TensorArray, or lsp_ad.staged, which stages lists.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    ys = []\n    for i in tf.range(3):\n        "
        "ys.append(x[i])\n    return tf.stack(ys)\n",
        "The list holds a tensor of the loop's own graph, InaccessibleTensorError, or one item however often "
        "the loop goes round.",
    ),
    Entry(
        "STG401",
        "bound-in-one-branch",
        "error",
        "A name has a value in one branch only of a staged conditional, and is read afterwards.",
        "Give it a value before the conditional, or in the other branch.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    if tf.reduce_sum(x) > 0:\n        y = "
        "x\n    return y\n",
        "Both branches of a staged conditional run as one operation, which has to give the same names.",
    ),
    Entry(
        "STG402",
        "branches-differ",
        "error",
        "A name has another type or structure in one branch, or after an iteration, than in the other.",
        "Give it one type: 0.0 for 0, an array for None.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    if tf.reduce_sum(x) > 0:\n        y = "
        "1\n    else:\n        y = 2.0\n    return y\n",
        "Under tf.function an int and a float differ; lsp_ad.staged makes a float of both. None, texts "
        "and tuples of other lengths differ everywhere.",
    ),
    Entry(
        "STG403",
        "return-in-one-branch",
        "error",
        "A `return` of a value under a staged condition, and a path that ends without one.",
        "End every path with `return value`.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    if tf.reduce_sum(x) > 0:\n        "
        "return x\n",
    ),
    Entry(
        "STG404",
        "jump-out-of-loop",
        "error",
        "`return` or `break` that tf.function cannot stage.",
        "Use a flag in the condition of the loop, or lsp_ad.staged.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    for i in tf.range(3):\n        if "
        "tf.reduce_sum(x) > 10.0:\n            return x\n        x = x * 2.0\n    return x\n",
        "lsp_ad.staged stages both.",
    ),
    Entry(
        "STG405",
        "endless-recursion",
        "error",
        "A staged function calls itself under a condition that is staged.",
        "Write a loop, or stage it with backend=\"lantern\", which has functions.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    s = tf.reduce_sum(x)\n"
        "    return f(x / 2.0) if s > 1.0 else s\n",
        "XLA and graphs of TensorFlow have no recursive functions.",
    ),
    Entry(
        "STG501",
        "cannot-be-converted",
        "error",
        "lsp_ad.staged refuses to convert a function: nothing is ever quietly left unconverted.",
        "Rewrite it, or mark it by `lsp_ad.do_not_convert` if it needs no conversion.",
        "import lsp_ad\n\n@lsp_ad.staged\ndef f(x):\n    for i in range(3):\n        yield x * i\n",
    ),
    Entry(
        "STG502",
        "left-unconverted",
        "warning",
        "AutoGraph does not convert a function with such a statement, and tf.function runs it as it stands.",
        "Write it without, or use lsp_ad.staged.",
        "import tensorflow as tf\n\n@tf.function\ndef f(x):\n    if (s := tf.reduce_sum(x)) > 0:\n"
        "        x = x / s\n    return x\n",
        "A warning is logged when the function is traced. From then on conditions on tensors fail, and loops "
        "are unrolled.",
    ),
)
