"""Marks that the compiler reads in the text of a function; when the function runs they do nothing.

Free of dependencies, NumPy included: a function with marks in it runs wherever this file is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
F = TypeVar("F", bound=Callable)


def stop_gradient(x: T) -> T:
    """`x` itself, through which no derivative flows: to a derivative it is a constant."""
    return x


def custom_vjp(rule: Callable[..., Any]) -> Callable[[F], F]:
    """Declare the vector-Jacobian product of the function that is decorated; the function stays as it is.

    `rule(a, b, y, dy)` for a function of a and b takes the arguments, the result and its adjoint, and returns
    the adjoints of a and b: a tuple for several parameters, None for one that carries no derivative. The
    function must not change its arguments.
    """
    return _unchanged


def custom_jvp(rule: Callable[..., Any]) -> Callable[[F], F]:
    """Declare the Jacobian-vector product of the function that is decorated; the function stays as it is.

    `rule(a, b, y, da, db)` for a function of a and b takes the arguments, the result and the tangents of the
    arguments (0.0 for one that does not move), and returns the tangent of the result.
    """
    return _unchanged


def non_differentiable(function: F) -> F:
    """Declare that the derivative of a function is zero, whatever it computes."""
    return function


def opaque(function: Callable[..., Any] | None = None, *, by: str) -> Any:
    """Declare that a function is not to be looked into: when a derivative runs, `by` differentiates it.

    `by`: "numerical" (central differences), "autograd" or "jax". Either `@lsp_ad.opaque(by="jax")` above a
    function, or `lsp_ad.opaque(function, by="jax")`, which is the function as it is.
    """
    return _unchanged if function is None else function


def _unchanged(function: F) -> F:
    return function


class insert_grad_of:
    """Code for the backward sweep: `with lsp_ad.insert_grad_of(x) as dx: dx = np.clip(dx, -1.0, 1.0)`.

    In a derivative the body runs when the backward sweep comes to this place: `dx` is the adjoint that x has
    there, and what the body assigns to `dx` is what it has from there on. The function itself never computes
    anything with `dx`: the body is left, in silence, at the first use of it. The compiler refuses a body that
    could do anything before that.
    """

    def __init__(self, x: object):
        """`x`: the variable whose adjoint is meant, a plain name."""

    def __enter__(self) -> Any:
        return NO_GRADIENT

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        # NumPy reports some uses, as an element of an array, by an error of its own
        return isinstance(error, NoGradient) or isinstance(getattr(error, "__cause__", None), NoGradient)


class checkpoint:
    """Save memory in the derivative of a loop: `with lsp_ad.checkpoint(every=100): for ...`.

    The forward sweep keeps the state of the loop only every so many iterations, and the backward sweep runs
    the iterations between again. When the function itself runs, this does nothing.
    """

    def __init__(self, every: int):
        """`every`: how many iterations there are from one kept state to the next."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        pass


def loop_options(
    *,
    maximum_iterations: int | None = None,
    unroll: bool | None = None,
    parallel_iterations: int | None = None,
    shape_invariants: dict[str, tuple[int | None, ...]] | None = None,
) -> None:
    """Say how a loop is to be staged; the first statement of the loop. When it runs this does nothing.

    `maximum_iterations`: the loop runs no more often, which gives lists that grow in it a capacity, and those
    of its derivative. `unroll`: True for a loop in Python, False for a staged one over a Python range or
    array. The other two are those of TensorFlow's loops: `shape_invariants` gives shapes, with None for what
    changes, by names of variables. The loops of a derivative have the same options, but not these shapes: its
    variables are others, and what shape they have is found when it is staged.
    """


def element_type(items: list, dtype: Any, shape: tuple[int, ...] = ()) -> None:
    """Say of which type the items of a list are, for a list that is empty when a staged loop begins."""


def must_stage(value: Any) -> Any:
    """A condition or an iterable that must not be decided in Python when a function is traced.

    It is the value itself. As a decorator it says so of all conditions and loops of a function.
    """
    return value


class NoGradient(BaseException):
    """Ends the body of an `insert_grad_of` where no derivative is being computed."""


class _Stand:
    """What stands for an adjoint where there is none: any use of it ends the body."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]


def _use(self: object, *given: object, **options: object) -> Any:
    raise NoGradient


_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod"
_USES = """neg pos abs invert lt le eq ne gt ge bool int float complex index round trunc floor ceil len iter
    next reversed contains getitem setitem delitem getattr call str repr format array array_ufunc
    array_function"""
for _name in _OPERATORS.split():
    for _side in ("", "r", "i"):
        setattr(_Stand, f"__{_side}{_name}__", _use)
for _name in _USES.split():
    setattr(_Stand, f"__{_name}__", _use)

NO_GRADIENT = _Stand()
