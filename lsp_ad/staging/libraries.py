"""Which files are the user's."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig

OWN = os.path.dirname(os.path.realpath(__file__)) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(OWN)) + os.sep
_RUNTIME = os.path.join(_PACKAGE, "runtime") + os.sep
_THEIRS = tuple(
    os.path.realpath(path) + os.sep
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    if path
)


@functools.cache
def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to lsp-ad: nothing of the user's.

    The helpers of derivatives are as good as the user's, in whose file they may stand.
    """
    path = os.path.realpath(filename)
    if path.startswith(_RUNTIME):
        return False
    return path.startswith((*_THEIRS, _PACKAGE)) or filename.startswith("<frozen")


def is_users(kind: type) -> bool:
    """Whether a class is one of the user's."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and not is_library(file)
