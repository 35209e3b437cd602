"""Staging of imperative Python by source transformation and dynamic dispatch (AutoGraph).

`converters/` write constructs as calls of `operators/`, which decide by the types of values at run time,
through `backends/`. Loaded when first used: marking a function for the editor costs nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsp_ad.staging.api import do_not_convert, staging_report, to_code
    from lsp_ad.staging.errors import ConversionError, StagingError

__all__ = ["ConversionError", "StagingError", "do_not_convert", "staged", "staging_report", "to_code"]


def staged(
    function: Callable[..., Any] | None = None,
    *,
    backend: str | None = None,
    recursive: bool = True,
    check_bounds: bool = False,
    raise_errors: bool = False,
) -> Any:
    """Convert a function and, unless `recursive` is false, what it calls.

    Every construct of the result is decided at run time by the type of the value that it depends on: inside
    `jax.jit` or `tf.function` it is staged, on plain values it runs as Python. With `backend` ("jax",
    "tensorflow", "lantern", or one that was registered) the function is compiled on its first call with
    arguments of each type.

    `check_bounds`: an index that is known only when the code runs, and outside of the array or list, is an
    IndexError on JAX, too, which else takes another element in silence. Each check costs a call of Python.

    `raise_errors`: a `raise` in a staged branch raises its error when the code runs on JAX, too, where it is
    refused else; under `jax.vmap` both branches run, and it is raised.

    Raises ConversionError where the function cannot be converted, ValueError for an unknown back end.
    """
    from lsp_ad.staging import api

    return api.staged(function, backend, recursive, check_bounds, raise_errors)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'lsp_ad.staging' has no attribute {name!r}")
    from lsp_ad.staging import api, errors

    return getattr(errors if name.endswith("Error") else api, name)
