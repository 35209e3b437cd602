"""The Python interface: derivatives of live functions, as live functions.

The derivative comes from the text of the function, as in the editor: nothing is traced, and the
result is ordinary Python that can be read (`inspect.getsource`), stepped through and timed.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lsp_ad.differentiate import (
    Derivative,
    Options,
    Stages,
    differentiable_parameters,
    differentiate,
)
from lsp_ad.live import NoSource, Primal, linked, load, primal_of
from lsp_ad.problems import Problem, Span, problem

Wrt = str | int | Sequence[str | int] | None


@dataclass(frozen=True)
class Diagnostic:
    """Why a function cannot be differentiated, and where: line and column count from 1."""

    code: str
    message: str
    way_out: str
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.code} {self.message} {self.way_out}".rstrip()


class DifferentiationError(ValueError):
    """A function cannot be differentiated; `problems` says why, one Diagnostic for each reason."""

    def __init__(self, name: str, problems: Sequence[Diagnostic]):
        self.name, self.problems = name, tuple(problems)
        reasons = "".join(f"\n  {found}" for found in self.problems)
        super().__init__(f"{name} cannot be differentiated:{reasons}")

    def __reduce__(self):
        return type(self), (self.name, self.problems)


def grad(
    f: Callable,
    wrt: Wrt = None,
    *,
    seed: str = "one",
    preserve_result: bool = False,
    optimized: bool = True,
) -> Callable[..., Any]:
    """The gradient of a function with a scalar result.

    `wrt` is a parameter of `f`, by name or by index (negative ones count from the end), or a sequence of
    them; None stands for every parameter that is not known to be something other than a float or an
    array of floats. Of a bound method, these are the parameters besides its object. The gradient takes the
    arguments of `f`, and the seed last if one is wanted; it returns one derivative for one parameter, and a
    tuple in the order given for several. The derivative with respect to an object of a dataclass or a named
    tuple is such an object, that with respect to one of any other class is a dict of its attributes.

    `seed`: where none is given it is 1.0 ("one"), ones in the shape of the result ("ones"), or an error
    ("required"). `preserve_result`: return the pair of the value of `f` and the gradient, as
    `value_and_grad` does. `optimized`: False for the code as it is before simplification.

    Raises DifferentiationError where the derivative cannot be had, TypeError for arguments of a wrong kind.

    >>> import lsp_ad
    >>> def f(x, n: int):
    ...     return x**3 * n
    >>> lsp_ad.grad(f)(2.0, 5)
    60.0
    """
    mode = "value_and_grad" if preserve_result else "grad"
    return _derivative(f, wrt, mode, Options(seed, optimized))


def value_and_grad(
    f: Callable, wrt: Wrt = None, *, seed: str = "one", optimized: bool = True
) -> Callable[..., Any]:
    """A function that returns the pair of the value of `f` and its gradient; all else is as in `grad`."""
    return _derivative(f, wrt, "value_and_grad", Options(seed, optimized))


def vjp(
    f: Callable,
    wrt: Wrt = None,
    *,
    seed: str = "required",
    preserve_result: bool = False,
    optimized: bool = True,
    motion: str = "joint",
) -> Any:
    """The vector-Jacobian product: takes the arguments of `f` and last the seed, of the shape of its result.

    `motion`: "split" gives two functions instead of one, as `split` does. All else is as in `grad`.
    """
    if motion not in ("joint", "split"):
        raise ValueError(f"motion must be joint or split, not {motion!r}")
    if motion == "split":
        if seed != "required" or preserve_result:
            raise ValueError("in split motion the seed is required, and the forward function has the value")
        return split(f, wrt, optimized=optimized)
    mode = "value_and_grad" if preserve_result else "vjp"
    return _derivative(f, wrt, mode, Options(seed, optimized))


def jvp(f: Callable, wrt: Wrt = None, *, optimized: bool = True) -> Callable[..., Any]:
    """The Jacobian-vector product, by forward mode: a function that returns the value of `f` and its tangent.

    It takes the arguments of `f`, and then for each parameter of `wrt` its tangent, of the shape of that
    parameter. All else is as in `grad`.

    >>> import lsp_ad
    >>> def f(x, n: int):
    ...     return x**3 * n
    >>> lsp_ad.jvp(f)(2.0, 5, 1.0)
    (40.0, 60.0)
    """
    return _derivative(f, wrt, "jvp", Options(optimized=optimized))


def split(
    f: Callable, wrt: Wrt = None, *, optimized: bool = True
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two halves of the gradient, as two functions.

    The forward one takes the arguments of `f`, and returns its value and what the backward function takes
    first; the seed is second.

    What was saved may be used again, with other seeds, as long as the arguments have not been changed in
    place. All else is as in `grad`.

    >>> import lsp_ad
    >>> def f(x, n: int):
    ...     return x**3 * n
    >>> forward, backward = lsp_ad.split(f)
    >>> value, saved = forward(2.0, 5)
    >>> value, backward(saved, 1.0)
    (40.0, 60.0)
    """
    primal, derivative = _generated(f, wrt, "split", Options(optimized=optimized))
    forward = _live(f, primal, derivative)
    return forward, _live(f, primal, replace(derivative, name=derivative.backward), bound=False)


def hvp(f: Callable, wrt: Wrt = None, *, optimized: bool = True) -> Callable[..., Any]:
    """The Hessian-vector product of a function with a scalar result: the tangent of its gradient.

    It takes the arguments of `f`, and then for each parameter of `wrt` a direction of its shape; it returns
    what `grad` does. The Hessian is that of all of `wrt` together. All else is as in `grad`.

    >>> import lsp_ad
    >>> def f(x, n: int):
    ...     return x**3 * n
    >>> lsp_ad.hvp(f)(2.0, 5, 1.0)
    60.0
    """
    return _derivative(f, wrt, "hvp", Options(optimized=optimized))


def hessian(f: Callable, wrt: Wrt = None, *, optimized: bool = True) -> Callable[..., Any]:
    """The Hessian of a function with a scalar result, of the shape of the parameter twice, row by row.

    For several parameters it is a tuple of rows of blocks: that of `x` and `w` has the shape of `x`, then
    that of `w`. It calls the Hessian-vector product once for each element. All else is as in `grad`.
    """
    return _derivative(f, wrt, "hessian", Options(optimized=optimized))


def jacobian(f: Callable, wrt: Wrt = None, *, optimized: bool = True) -> Callable[..., Any]:
    """The Jacobian of a function, of the shape of its result and then that of the parameter.

    For several parameters it is a tuple of one for each. It is made column by column in forward mode: one
    call of the Jacobian-vector product for each element of the parameters. All else is as in `grad`.
    """
    return _derivative(f, wrt, "jacobian", Options(optimized=optimized))


def stages(f: Callable, wrt: Wrt = None, mode: str = "grad") -> dict[str, str]:
    """The text of `f` after each pass on the way to a derivative, by the name of the stage, in their order.

    The last one is "final", the derivative. Names with two underscores are those that passes have given.
    """
    recorded = Stages()
    _, derivative = _generated(f, wrt, mode, Options(stages=recorded))
    return {**recorded.texts, "final": derivative.text}


def _derivative(f: Callable, wrt: Wrt, mode: str, options: Options) -> Callable[..., Any]:
    primal, derivative = _generated(f, wrt, mode, options)
    return _live(f, primal, derivative)


def _live(f: Callable, primal: Primal, derivative: Derivative, bound: bool = True) -> Callable[..., Any]:
    try:
        made = load(primal, derivative)
    except NoSource as error:
        raise _no_source(f.__name__, f"{str(error)[:1].upper()}{str(error)[1:]}.", f) from None
    return types.MethodType(made, f.__self__) if bound and isinstance(f, types.MethodType) else made


def _generated(f: Callable, wrt: Wrt, mode: str, options: Options) -> tuple[Primal, Derivative]:
    parameters = _parameters(wrt)
    if not callable(f):
        raise TypeError(f"{mode} takes a function, not {type(f).__name__}")
    name = getattr(f, "__name__", None) or type(f).__name__
    bound = getattr(f, "__self__", None) if isinstance(f, types.MethodType) else None
    function = f.__func__ if isinstance(f, types.MethodType) else f
    function = getattr(function, "__lsp_ad_unstaged__", function)  # what `staged` has converted
    if not isinstance(function, types.FunctionType):
        raise _no_source(name, f"It is a {type(f).__name__}, not a Python function.", f)
    try:
        primal = primal_of(function, type(bound) if bound is not None else None)
        program = linked(primal)
        if bound is not None:
            parameters = _of_bound(function, parameters, differentiable_parameters(program, primal.name))
        derivative, problems = differentiate(program, primal.name, parameters, mode, options)
    except NoSource as error:
        raise _no_source(name, f"{str(error)[:1].upper()}{str(error)[1:]}.", f) from None
    if derivative is None:
        raise DifferentiationError(name, [_diagnostic(primal, found) for found in problems])
    return primal, derivative


def _of_bound(
    function: types.FunctionType, wrt: list[str | int] | None, differentiable: tuple[str, ...]
) -> list[str | int]:
    """The parameters of a bound method, among which its object is not counted."""
    own = function.__code__.co_varnames[0]
    if wrt is None:
        return [p for p in differentiable if p != own]
    return [w + 1 if isinstance(w, int) and w >= 0 else w for w in wrt]


def _parameters(wrt: Wrt) -> list[str | int] | None:
    if wrt is None:
        return None
    if isinstance(wrt, (str, bytes)) or not isinstance(wrt, Sequence):
        return [_parameter(wrt)]
    if not wrt:
        raise TypeError("wrt names no parameter; leave it out for all of them")
    return [_parameter(one) for one in wrt]


def _parameter(given: Any) -> str | int:
    if isinstance(given, str):
        return given
    try:
        if not isinstance(given, bool):
            return operator.index(given)
    except TypeError:
        pass
    raise TypeError(f"wrt takes names and indices of parameters, not {given!r}")


def _diagnostic(primal: Primal, found: Problem) -> Diagnostic:
    return Diagnostic(found.code, found.message, found.way_out, primal.path, *primal.place(found.span))


def _no_source(name: str, reason: str, f: Callable) -> DifferentiationError:
    found = problem("AD505", f"The text of {name} cannot be found: {reason}", Span(1, 0, 1, 1))
    code = getattr(f, "__code__", None)
    file, line = (
        (code.co_filename, code.co_firstlineno) if isinstance(code, types.CodeType) else ("<unknown>", 1)
    )
    return DifferentiationError(name, [Diagnostic(found.code, found.message, found.way_out, file, line, 1)])
