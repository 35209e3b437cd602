"""The codes of staging: STG1 decided while tracing, 2 what no traced value does, 3 effects, 4 branches."""

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
        "`is None` are plainly meant to be decided in Python: each value has a trace of its own.",
    ),
)
