"""lsp-ad: automatic differentiation as an editor feature.

The names below are loaded when they are first used, so that `import lsp_ad` costs nothing and the
server and the command line never load NumPy.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsp_ad.api import (
        Diagnostic,
        DifferentiationError,
        grad,
        hessian,
        hvp,
        jacobian,
        jvp,
        split,
        stages,
        value_and_grad,
        vjp,
    )
    from lsp_ad.markers import (
        checkpoint,
        custom_jvp,
        custom_vjp,
        element_type,
        insert_grad_of,
        loop_options,
        must_stage,
        non_differentiable,
        opaque,
        stop_gradient,
    )
    from lsp_ad.staging import (
        ConversionError,
        StagingError,
        do_not_convert,
        staged,
        staging_report,
        to_code,
    )

__version__ = "0.1.0"
_STAGING = (
    "ConversionError",
    "StagingError",
    "do_not_convert",
    "staged",
    "staging_report",
    "to_code",
)
__all__ = [
    "ConversionError",
    "Diagnostic",
    "DifferentiationError",
    "StagingError",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "do_not_convert",
    "element_type",
    "grad",
    "hessian",
    "hvp",
    "insert_grad_of",
    "jacobian",
    "jvp",
    "loop_options",
    "must_stage",
    "non_differentiable",
    "opaque",
    "split",
    "staged",
    "stages",
    "staging_report",
    "stop_gradient",
    "to_code",
    "value_and_grad",
    "vjp",
]
_MARKERS = (
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "element_type",
    "insert_grad_of",
    "loop_options",
    "must_stage",
    "non_differentiable",
    "opaque",
    "stop_gradient",
)


def __getattr__(name: str) -> Any:
    if name in _STAGING:
        from lsp_ad import staging

        value: Any = getattr(staging, name)
    elif name in _MARKERS:
        from lsp_ad import markers

        value = getattr(markers, name)
    elif name in __all__:
        from lsp_ad import api

        value = getattr(api, name)
    else:
        raise AttributeError(f"module 'lsp_ad' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
