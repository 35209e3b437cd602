"""Names for what the compiler adds.

Inside the compiler an added name holds two underscores, so that it can be told from the user's;
`differentiate/output/display.py` gives it the name that people see.
"""

from __future__ import annotations

import re

ADJOINT = "d__"
WEB = "w__"
RESERVED = re.compile(r"(t|b|s|d|w)__")


class Fresh:
    """Hands out names that nothing uses yet. `hints` says what a person might call a temporary."""

    def __init__(self, used: set[str]):
        self.used = set(used)
        self.hints: dict[str, str] = {}
        self._next: dict[str, int] = {}

    def new(self, base: str, hint: str = "") -> str:
        """A new name `base__k`."""
        number = self._next.get(base, 1)
        while (name := f"{base}__{number}") in self.used:
            number += 1
        self._next[base] = number + 1
        self.used.add(name)
        if hint:
            self.hints[name] = hint
        return name


def plain(name: str) -> str:
    """The user's name that a web stands for: `y` for `w__y__2`; another name as it is, without its number."""
    return re.sub(r"^w__|__\d+$", "", name)


def is_temporary(name: str) -> bool:
    """Whether the compiler made a name for a value that the user did not name."""
    return name.startswith(("t__", ADJOINT + "t__", "b__"))


def adjoint_name(name: str) -> str:
    return ADJOINT + name


def primal_name(name: str) -> str:
    """The name whose adjoint a name is; another name as it is."""
    return name.removeprefix(ADJOINT)


def is_adjoint(name: str) -> bool:
    return name.startswith((ADJOINT, "b__"))
