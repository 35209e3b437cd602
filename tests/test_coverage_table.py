"""The table of what shows each row: complete, and up to date but for the numbers of cases."""

from __future__ import annotations

from tests import coverage_table


def test_every_row_has_tests():
    found = coverage_table.shown()
    assert [row for row in coverage_table.ROWS if not found.get(row)] == []
    assert [row for row in found if row[0] not in "AT"] == []


def test_the_table_is_up_to_date():
    found = coverage_table.shown()
    want = {row: found.get(row, []) for row in coverage_table.ROWS}
    written = coverage_table.listed(coverage_table.TABLE.read_text(encoding="utf-8"))
    assert written == want, "run python -m tests.coverage_table"


def test_the_rows_are_those_that_can_be_shown_by_now():
    differentiation, staging = [*range(1, 28), 30, 31], range(1, 19)
    assert list(coverage_table.ROWS) == [*(f"T{n}" for n in differentiation), *(f"A{n}" for n in staging)]
