"""Comments in generated code."""

from __future__ import annotations

BY_OTHERS = {"numerical": "central differences", "autograd": "Autograd", "jax": "JAX"}


def remark(text: str) -> str:
    """A comment for a line in which something else than the text of the function gives a derivative."""
    for oracle, who in BY_OTHERS.items():
        if f"{oracle}_vjp(" in text or f"{oracle}_jvp(" in text:
            return f"  # by {who}, when this runs"
    return ""
