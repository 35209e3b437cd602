"""Compiles programs by Numba, and calls what is compiled."""

from __future__ import annotations

import functools
import linecache
import math
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lsp_ad.staging.lantern.compiler.boundary import giving, taking
from lsp_ad.staging.lantern.compiler.functions import Text, program_source
from lsp_ad.staging.lantern.compiler.operands import leaf_types

try:
    import numba

    from lsp_ad.staging.lantern.compiler import kernels
except ImportError as error:
    raise ImportError('compiling needs Numba: pip install "lsp-ad[lantern]"') from error

from lsp_ad.staging.lantern.errors import LanternError, LanternRecursionError
from lsp_ad.staging.lantern.infer import check
from lsp_ad.staging.lantern.interpreter import raised
from lsp_ad.staging.lantern.ir import Array, Error, Let, List, Print, Program, Scalar, Type, walk
from lsp_ad.staging.lantern.printing import program_text
from lsp_ad.staging.lantern.values import shown

# Stack for recursion on a thread of its own; on the caller's thread, the main one or another, there is less.
DEEP = 512 * 1024 * 1024
MARGIN = 256 * 1024
NEAR, NEAR_ON_MAIN = 64 * 1024, 1024 * 1024

_compiled: dict[str, Compiled] = {}
_lock = threading.RLock()


class Raised(Exception):
    """An error of a program: the number of its message, and the values in it."""


def compiled(program: Program) -> Compiled:
    """A program as machine code. The same program is compiled once."""
    text = program_text(program)
    with _lock:
        if text not in _compiled:
            _compiled[text] = Compiled(program)
        return _compiled[text]


class Compiled:
    """A compiled program. `source` is the Python text that Numba compiled.

    An exception that the program raises has the place that it comes from as `lantern_place`.
    """

    def __init__(self, program: Program) -> None:
        check(program)
        self.program = program
        # What prints runs once: it cannot be run again in another way.
        self._once = any(isinstance(e, Print) for f in program.functions for e in walk(f.body))
        self.text, self._enter = _built(program, stretching=self._once)
        self._deep = self._once
        entry = program.table[program.entry]
        consumed = self.text.entry.consumed
        self._take = [taking(t, name, k in consumed) for k, (name, t) in enumerate(entry.params)]
        self._give = giving(entry.result)
        self._traced: tuple[Text, Callable] | None = None

    @property
    def source(self) -> str:
        return self.text.source

    def __call__(self, *args: Any) -> Any:
        entry = self.program.table[self.program.entry]
        if len(args) != len(entry.params):
            raise TypeError(f"{entry.name} takes {len(entry.params)} arguments, and is given {len(args)}")
        try:
            try:
                found = self._run(self._enter, args)
            except kernels.Stretch:
                self.text, self._enter = _built(self.program, stretching=True)
                found = self._run(self._enter, args)
        except LanternError:
            raise
        except Exception as error:
            raise self._explained(error, args) from None
        return self._give(found)

    def _arguments(self, args: tuple[Any, ...]) -> list[Any]:
        found: list[Any] = []
        for take, value in zip(self._take, args, strict=True):
            take(value, found)
        return found

    def _run(self, enter: Callable, args: tuple[Any, ...], *extra: Any) -> Any:
        if not self.text.low:
            return enter(*extra, *self._arguments(args))
        if not self._deep:
            try:
                return enter(kernels.stack_address() - near(), *extra, *self._arguments(args))
            except RecursionError:
                self._deep = True
        return _on_deep_stack(lambda low: enter(low, *extra, *self._arguments(args)))

    def _explained(self, error: Exception, args: tuple[Any, ...]) -> Exception:
        """The exception as the program means it, with its place, which another run finds out.

        That run is of the program as it is written: sums over calls are made in the order that it says, so
        that, of two errors, it raises the first.
        """
        text, place = self.text, None
        if _has_places(self.program):
            if self._traced is None:
                self._traced = _built(self.program, stretching=True, places=True)
            where = np.full(1, -1)
            try:
                self._run(self._traced[1], args, where)
            except Exception as again:
                error, text = again, self._traced[0]
                place = text.places[where[0]] if where[0] >= 0 else None
        found = _meant(error, text)
        if place is not None:
            found.lantern_place = place  # type: ignore[attr-defined]
        return found


def _meant(error: Exception, text: Text) -> Exception:
    if isinstance(error, RecursionError):
        return LanternRecursionError(str(error))
    if not isinstance(error, Raised):
        return error
    message = text.messages[error.args[0]]
    assert isinstance(message, Error)
    return raised(message.type, "".join(_message(message.parts, error.args[1:])))


def _message(parts: tuple[Any, ...], values: tuple[Any, ...]) -> list[str]:
    following = iter(values)
    return [p if isinstance(p, str) else shown(next(following)) for p in parts]


def _built(program: Program, stretching: bool, places: bool = False) -> tuple[Text, Callable]:
    text = program_source(program, list(kernels.KERNELS), stretching, places)
    name = f"<lantern {program.entry} {id(text):x}>"
    linecache.cache[name] = (len(text.source), None, text.source.splitlines(keepends=True), name)

    def printed(number: int, *values: Any) -> None:
        if not places:
            print(*_message(text.messages[number].parts, values))

    space: dict[str, Any] = {**kernels.KERNELS}
    space |= {"np": np, "math": math, "numba": numba, "Raised": Raised, "printed": printed}
    exec(compile(text.source, name, "exec"), space)
    for group in text.groups:
        for f in group:
            # Numba does not find functions that call one another without their wrappers.
            inner = f is not text.entry and len(group) == 1
            options = {"error_model": "numpy", "no_cpython_wrapper": inner, "no_cfunc_wrapper": inner}
            space[f.name] = numba.njit(**options)(space[f.name])
    extra = [numba.types.int64] * text.low + [numba.types.int64[::1]] * places
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaPendingDeprecationWarning)
        _compile(text, space, extra)
    return text, space[text.entry.name]


def _compile(text: Text, space: dict[str, Any], extra: list[Any]) -> None:
    for group in text.groups:
        for f in group:
            leaves = [leaf for t in f.params for leaf in leaf_types(t)]
            reflected = text.lists and f is text.entry
            space[f.name].compile((*extra, *(_numba_type(leaf, reflected) for leaf in leaves)))
        for f in group:
            # A constant as argument is no reason to compile a function once more.
            space[f.name].disable_compile()


def _numba_type(t: Type, reflected: bool = False) -> Any:
    if isinstance(t, Scalar):
        return getattr(numba.types, "boolean" if t.dtype == "bool" else t.dtype)
    if isinstance(t, Array):
        return numba.types.Array(_numba_type(Scalar(t.dtype)), t.rank, "C")
    assert isinstance(t, List)
    parts = [_numba_type(leaf) for leaf in leaf_types(t.item)]
    item = parts[0] if len(parts) == 1 else numba.types.Tuple(parts) if parts else numba.types.int64
    return numba.types.List(item, reflected=reflected)


def _has_places(program: Program) -> bool:
    return any(
        isinstance(e, Let) and any(b.place is not None for b in e.bindings)
        for f in program.functions
        for e in walk(f.body)
    )


def near() -> int:
    """How much stack a call may take on this thread, whose stack is in use already."""
    return _near_on_main() if threading.current_thread() is threading.main_thread() else NEAR


@functools.cache
def _near_on_main() -> int:
    try:
        import resource
    except ImportError:  # not on Windows, where the stack is small
        return NEAR
    size = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return NEAR_ON_MAIN if size == resource.RLIM_INFINITY or size >= 8 * NEAR_ON_MAIN else NEAR


def _on_deep_stack(run: Callable[[int], Any]) -> Any:
    """Run on a thread with a stack for deep recursion; `run` takes the lowest address that it may use."""
    result: list[Any] = []

    def target() -> None:
        try:
            result.extend((True, run(kernels.stack_address() - DEEP + MARGIN)))
        except BaseException as error:
            result.extend((False, error))

    with _lock:
        before = threading.stack_size(DEEP)
        try:
            thread = threading.Thread(target=target, name="lantern")
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    if not result[0]:
        raise result[1]
    return result[1]
