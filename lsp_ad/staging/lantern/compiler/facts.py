"""What is known where code is being written: sizes that are equal, expressions that have a name already."""

from __future__ import annotations


class Facts:
    """Facts hold to the end of the block in which they were found: `mark` and `forget` go back."""

    def __init__(self) -> None:
        self._same: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._log: list[tuple[dict[str, str], str]] = []

    def size(self, code: str) -> str:
        """The code that stands for all sizes known to be equal to one."""
        while code in self._same:
            code = self._same[code]
        return code

    def equal(self, a: str, b: str) -> None:
        """Note that two sizes are equal."""
        a, b = self.size(a), self.size(b)
        if a != b:
            kept, other = (b, a) if b.isdigit() else (a, b)
            self._note(self._same, other, kept)

    def named(self, code: str) -> str | None:
        """The name of an expression's value."""
        return self._named.get(code)

    def name(self, code: str, name: str) -> None:
        self._note(self._named, code, name)

    def _note(self, table: dict[str, str], key: str, value: str) -> None:
        table[key] = value
        self._log.append((table, key))

    def mark(self) -> int:
        return len(self._log)

    def forget(self, mark: int) -> None:
        while len(self._log) > mark:
            table, key = self._log.pop()
            del table[key]
