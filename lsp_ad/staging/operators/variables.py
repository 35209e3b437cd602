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
        message = f"cannot access local variable {self.name!r} where it is not associated with a value"
        return UnboundLocalError(message, name=self.name)


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


def set_attribute(value: Any, name: str, new: Any) -> None:
    """`value.name = new`, or no such attribute where it has no value."""
    if not isinstance(new, Undefined):
        setattr(value, name, new)
    elif not isinstance(value, Undefined) and name in getattr(value, "__dict__", ()):
        delattr(value, name)


def set_entry(value: Any, key: str, new: Any) -> None:
    """`value[key] = new`, or no such entry where it has no value."""
    if not isinstance(new, Undefined):
        value[key] = new
    elif isinstance(value, dict):
        value.pop(key, None)
