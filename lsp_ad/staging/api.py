"""The Python interface of staging."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

from lsp_ad.staging import decisions
from lsp_ad.staging.backends import backend_named, loaded
from lsp_ad.staging.callees import MARK, converted_callee
from lsp_ad.staging.context import Wishes
from lsp_ad.staging.conversion import converted, converted_alone, template_of
from lsp_ad.staging.decisions import Report
from lsp_ad.staging.entries import Entry
from lsp_ad.staging.errors import MADE, ConversionError
from lsp_ad.staging.structures import flatten

F = TypeVar("F", bound=Callable)


def staged(
    function: Callable[..., Any] | None,
    backend: str | None,
    recursive: bool = True,
    check_bounds: bool = False,
    raise_errors: bool = False,
) -> Any:
    """What `lsp_ad.staged` does."""
    if function is None:
        return functools.partial(
            staged,
            backend=backend,
            recursive=recursive,
            check_bounds=check_bounds,
            raise_errors=raise_errors,
        )
    if not callable(function):
        raise TypeError(f"staged takes a function, not {type(function).__name__}")
    made = _converted(function, recursive)
    compile_ = backend_named(backend).compile if backend is not None else None
    return Entry(made, compile_, Wishes(check_bounds, raise_errors)).function


def to_code(function: Callable[..., Any]) -> str:
    """The text of the converted function, as a module: it needs what the function reads from around it.

    Raises ConversionError.
    """
    plain = getattr(function, "__lsp_ad_unstaged__", getattr(function, "__func__", function))
    if not isinstance(plain, types.FunctionType):
        raise TypeError(f"to_code takes a Python function, not {type(function).__name__}")
    code, template = plain.__code__, template_of(plain)
    return (
        f"# {plain.__qualname__} of {code.co_filename}:{code.co_firstlineno}, converted by lsp-ad.\n"
        f"from lsp_ad.staging import operators as {template.alias}\n\n\n{template.text}"
    )


def do_not_convert(function: F) -> F:
    """Mark a function that conversion leaves as it is; it runs as plain Python."""
    setattr(function, MARK, function)
    if isinstance(function, types.FunctionType):
        function.__dict__.pop(MADE, None)
    return function


def staging_report(
    function: Callable[..., Any], *arguments: Any, backend: str | None = None, **named: Any
) -> Report:
    """Trace a function with arguments, and say of each construct what was decided and why.

    The function runs; but where an argument only describes an array (`jax.ShapeDtypeStruct`) it is traced, as
    in `jax.jit`.
    """
    leaves = flatten((arguments, named))[0]
    only = next((b for b in loaded() if any(map(b.is_description, leaves))), None)
    with decisions.recording() as report:
        if only is None:
            staged(function, backend)(*arguments, **named)
        else:
            only.trace_only(staged(function, None), arguments, named)
    return report


def _converted(function: Callable[..., Any], recursive: bool) -> Any:
    plain = getattr(function, "__lsp_ad_unstaged__", function)
    if isinstance(plain, types.FunctionType):
        return converted(plain) if recursive else converted_alone(plain)
    if not recursive:
        raise TypeError(f"only a function can be converted by itself, no {type(function).__name__}")
    made, why = converted_callee(plain)
    if why:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise ConversionError(f"{name} cannot be converted: {why}.")
    return made
