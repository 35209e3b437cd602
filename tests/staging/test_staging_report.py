"""What was decided, printed: by line, with the text and the reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lsp_ad

pytestmark = pytest.mark.row("A13")
jax = pytest.importorskip("jax")


def helper(v):
    return v if v > 0 else -v


def run(x, n, flag):
    for i in range(n):
        x = x + i
    if flag and x > 0:
        x = helper(x)
    while x > 10:
        x = x / 2
    return math.sin(x)


def shown(report):
    """What is printed, without the numbers of lines."""
    lines = str(report).splitlines()
    assert lines[0] == f"{__file__}:"
    return [line[5:].rstrip() for line in lines[1:]]


EXPECTED = """
  return v if v > 0 else -v             conditional expression: staged: the condition is a value of jax
  for i in range(n):                    for: unrolled 3 times: it goes over a Python range
  if flag and x > 0:                    and: decided in Python: the condition is a Python value of type bool
                                        if: staged: the condition is a value of jax
  x = helper(x)                         call helper: converted
  while x > 10:                         while: staged: the condition is a value of jax
"""


def test_printed():
    report = lsp_ad.staging_report(run, 50.0, 3, True, backend="jax")
    assert shown(report) == EXPECTED.strip("\n").split("\n")
    assert [d.line for d in report] == [
        d.line for d in lsp_ad.staging_report(run, 50.0, 3, True, backend="jax")
    ]


def test_descriptions_of_arguments():
    described = jax.ShapeDtypeStruct((), np.float32)
    assert shown(lsp_ad.staging_report(run, described, 3, True)) == EXPECTED.strip("\n").split("\n")


def test_plain_values():
    report = lsp_ad.staging_report(run, 50.0, 3, False)
    assert [d.outcome for d in report.of("if")] == ["decided in Python"]
    assert [d.count for d in report.of("while")] == [3]
    assert not any(d.outcome == "staged" for d in report)


def test_what_is_left_alone():
    @lsp_ad.do_not_convert
    def marked(v):
        return v

    def calls(x):
        return marked(x) + len("".join(["a"])) + math.gcd(4, 6)

    report = lsp_ad.staging_report(calls, 1.0, backend="jax")
    found = {d.subject.rsplit(".", 1)[-1]: d.why for d in report.of("call") if d.outcome == "left alone"}
    assert found == {"marked": "it is marked do_not_convert", "join": "it is built in"}
