"""What form an adjoint is in, as far as it is known at a point of the backward sweep."""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """The form of an adjoint: `exact`, it has the shape of its variable (else it broadcasts to it);
    `scalar`, it is surely a number; `owned`, it is an array that this function made and nothing shares, or
    a list or dict of such; `outer`, it is a list or dict that this function made, whatever its items are;
    `wide`, it is yet to be summed over what broadcasting has repeated (its variable is a temporary, whose
    one assignment is the next to read it); `typed`, it surely is no number of Python, which would take the
    precision of what it meets, or double where it meets truth values."""

    exact: bool = False
    scalar: bool = False
    owned: bool = False
    outer: bool = False
    wide: bool = False
    typed: bool = False

    def meet(self, other: Form) -> Form:
        return Form(
            self.exact and other.exact,
            self.scalar and other.scalar,
            self.owned and other.owned,
            self.outer and other.outer,
            self.wide and other.wide,
            self.typed and other.typed,
        )

    def covers(self, other: Form) -> bool:
        return self.meet(other) == other

    def alias(self) -> Form:
        return Form(self.exact, self.scalar, False, typed=self.typed)

    def made_exact(self) -> Form:
        return Form(True, False, False, typed=True)


State = dict[str, Form]
