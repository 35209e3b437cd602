"""Variables that may have no value yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Undefined:
    """Stands for the value of a variable that has none yet."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name} has no value>"

    def __bool__(self) -> bool:
        raise self.error()

    def __getattr__(self, name: str) -> Any:
        raise self.error()

    def error(self) -> UnboundLocalError:
        return UnboundLocalError(
            f"cannot access local variable {self.name!r} where it is not associated with a value"
        )


def undefined(name: str) -> Undefined:
    return Undefined(name)


def read(value: Any) -> Any:
    """The value of a variable that may have none. Raises UnboundLocalError as Python would."""
    if isinstance(value, Undefined):
        raise value.error()
    return value


def peek(get: Callable[[], Any], name: str) -> Any:
    """The value of `a.b` or `d["k"]`, or Undefined where there is none."""
    try:
        return get()
    except (AttributeError, KeyError, NameError, IndexError):
        return Undefined(name)
    except TypeError:
        return Undefined(name)


def poke(set_: Callable[[Any], None], value: Any) -> None:
    """Set `a.b` or `d["k"]`, unless it has no value."""
    if not isinstance(value, Undefined):
        set_(value)
