# fmt: off
# ruff: noqa
"""The line of an error is the same in converted code as in the user's, whatever construct it is in."""



from __future__ import annotations

import contextlib
import traceback

import numpy as np
import pytest

import lsp_ad

pytestmark = pytest.mark.row("A10")


def boom(*_):
    return 1 / 0


def in_test(x):
    if (x > 0
            and boom()):
        x = 1
    return x


def in_elif(x):
    for i in range(2):
        if x < 0:
            x = 1
        elif (x > 0
              and boom(i)):
            x = 2
        else:
            x = 3
    return x


def in_while_test(x):
    while (x > 0 and
           boom()):
        x -= 1
    return x


def in_loop_body(x):
    for i in range(3):
        if i == 1:
            continue
        if i == 2:
            x = x + \
                boom()
    return x


def in_iterable(x):
    for i in [1,
              boom()]:
        x += i
    return x


def in_return_of_a_loop(x):
    while True:
        x += 1
        if x > 3:
            return boom(
                x
            )


def in_with(x):
    with contextlib.nullcontext(
        boom()
    ):
        x = 1
    return x


def in_try(x):
    try:
        if x:
            boom()
    finally:
        x = 2
    return x


def in_finally(x):
    try:
        x = 1
    finally:
        if x:
            boom()
    return x


def in_handler(x):
    try:
        x = {}["k"]
    except KeyError:
        x = boom()
    return x


def in_a_function_inside(x):
    def inner(v):
        if v:
            return boom()
        return v

    return inner(x) + 1


def in_a_lambda(x):
    f = (lambda v:
         v if not v else
         boom())
    return f(x)


def in_a_comprehension(x):
    return [
        v
        for v in range(3)
        if v and boom()
    ]


def in_a_conditional_expression(x):
    return (
        x
        if x < 0
        else boom()
    )


def in_an_assertion(x):
    assert (
        x < 0
    ), "no"
    return x


def in_a_message(x):
    assert x < 0, (
        f"{boom()}"
    )
    return x


def in_a_walrus(x):
    if (y := x) > 0:
        return (z := boom()) + y
    return y


def in_match(x):
    match x:
        case 0:
            return 1
        case _ if x > 0:
            return boom()
    return x


def in_an_item(x):
    y = np.zeros(2)
    y[
        5
    ] = x
    return y


def in_an_update(x):
    y = [1]
    if x:
        y[
            3
        ] += x
    return y


def in_an_f_string(x):
    return (
        "a"
        f"{boom()}"
    )


def in_a_multi_line_call(x):
    return max(
        x,
        boom(),
    )


def in_a_raise(x):
    if x:
        raise ValueError(
            "no"
        )
    return x


def in_an_unpacking(x):
    a, b = (
        [x]
    )
    return a


def in_a_delete(x):
    del x
    return x


def in_for_else(x):
    for i in range(2):
        if x < 0:
            break
    else:
        boom()
    return x


def in_a_chain(x):
    return (0 < x <
            boom())


FUNCTIONS = [f for name, f in list(globals().items()) if name.startswith("in_")]


def lines_of(function, *arguments):
    with pytest.raises(Exception) as found:
        function(*arguments)
    frames = traceback.extract_tb(found.value.__traceback__)
    return type(found.value), [(f.name, f.lineno) for f in frames if f.filename == __file__][1:]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_lines(function):
    assert lines_of(lsp_ad.staged(function), 1) == lines_of(function, 1)
