"""Jumps into structure: every `return`, `break` and `continue` becomes the last thing on its path.

Before:                         After:
    if r <= d:                      if r <= d:
        return r * r                    result = r * r
    return d * r                    else:
                                        result = d * r
                                    return result

What follows an `if` that may leave goes into the branch that stays; a `return` in a loop sets
the result and a flag and breaks. A `break` stays, as the last statement of its path.
"""

from __future__ import annotations

import gast

from lsp_ad.differentiate.fresh import Fresh
from lsp_ad.problems import Refusal, Span, problem
from lsp_ad.semantics import flow
from lsp_ad.simplify.algebra import assign, constant, name


def structure(function: gast.FunctionDef, fresh: Fresh) -> str:
    """Rewrite a function in place; returns the name of its result variable, the last statement returns it.

    Raises Refusal (AD104) where a path ends without a value.
    """
    return _Structure(function, fresh).run()


def if_jumped(flag: str, body: list[gast.stmt], orelse: list[gast.stmt]) -> gast.If:
    """What depends on whether a jump has set a flag: it stands for no construct of the user's."""
    made = gast.If(name(flag), body, orelse)
    made.stands_for = ""
    return made


def leaves(body: list[gast.stmt]) -> bool:
    """Whether no path through a block reaches its end."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (gast.Return, gast.Break, gast.Continue, gast.Raise)):
        return True
    if isinstance(last, gast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, gast.With):
        return leaves(last.body)
    if isinstance(last, gast.Try):
        # what follows a body that leaves (`else`) is never reached
        body = last.body if leaves(last.body) else last.orelse
        return leaves(body) and all(leaves(handler.body) for handler in last.handlers)
    return endless(last) and not jumps(last.body, gast.Break)


def endless(s: gast.stmt) -> bool:
    """Whether a loop ends by a jump only."""
    return isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and bool(s.test.value)


def jumps(body: list[gast.stmt], *kinds: type, through_loops: bool = False) -> bool:
    """Whether a block has jumps of some kinds; those of loops in it are their own, but for `return`."""
    for s in body:
        if isinstance(s, kinds):
            return True
        if isinstance(s, (gast.For, gast.While)) and not through_loops:
            if gast.Return in kinds and jumps(s.body, gast.Return, through_loops=True):
                return True
        elif any(jumps(b, *kinds, through_loops=through_loops) for b in flow.blocks(s)):
            return True
    return False


class _Structure:
    def __init__(self, function: gast.FunctionDef, fresh: Fresh):
        self.function = function
        self.fresh = fresh
        self.result = fresh.new("result")
        self.returned: str | None = None

    def run(self) -> str:
        body = self.function.body
        if not leaves(body):
            raise Refusal(
                problem(
                    "AD104",
                    f"`{self.function.name}` may end without returning a value.",
                    _header_span(self.function),
                )
            )
        done = self.block(body, in_loop=False)
        if self.returned:
            done = [assign(self.returned, constant(False)), *done]
        self.function.body = [*done, gast.Return(name(self.result))]
        return self.result

    def block(self, body: list[gast.stmt], in_loop: bool) -> list[gast.stmt]:
        """A block whose jumps are all last on their paths; `in_loop`: returns become flag and break."""
        done: list[gast.stmt] = []
        for position, s in enumerate(body):
            rest = body[position + 1 :]
            if isinstance(s, gast.Return):
                return done + self._return(s, in_loop)
            if isinstance(s, gast.Continue):
                return done
            if isinstance(s, (gast.Break, gast.Raise)):
                return [*done, s]
            if isinstance(s, gast.If) and jumps([s], gast.Return, gast.Break, gast.Continue, gast.Raise):
                return done + self._branch(s, rest, in_loop)
            if isinstance(s, (gast.With, gast.Try)) and jumps([s], gast.Return, gast.Break, gast.Continue):
                return done + self._guarded(s, rest, in_loop)
            if isinstance(s, (gast.For, gast.While)):
                left = self._loop(s)
                done.append(s)
                if left:
                    return done + self._after_return(s, rest, in_loop)
                continue
            for inner in flow.blocks(s):
                # no jumps of its own, but perhaps loops that have some
                inner[:] = self.block(inner, in_loop)
            done.append(s)
        return done

    def _return(self, s: gast.Return, in_loop: bool) -> list[gast.stmt]:
        assert s.value is not None
        set_result = gast.copy_location(assign(self.result, s.value), s)
        if not in_loop:
            return [set_result]
        return [set_result, assign(self._flag(), constant(True)), _left(self._flag())]

    def _flag(self) -> str:
        if self.returned is None:
            self.returned = self.fresh.new("returned")
        return self.returned

    def _branch(self, s: gast.If, rest: list[gast.stmt], in_loop: bool) -> list[gast.stmt]:
        if leaves(s.body):
            s.orelse = s.orelse + rest
        elif leaves(s.orelse):
            s.body = s.body + rest
        elif rest:
            return self._both_stay(s, rest, in_loop)
        s.body = self.block(s.body, in_loop) or [gast.Pass()]
        s.orelse = self.block(s.orelse, in_loop)
        return [s]

    def _guarded(self, s: gast.With | gast.Try, rest: list[gast.stmt], in_loop: bool) -> list[gast.stmt]:
        """A `with` or `try` with jumps: what follows it cannot go into it."""
        if in_loop or not leaves([s]):
            return self._both_stay(s, rest, in_loop)
        for inner in flow.blocks(s):
            inner[:] = self.block(inner, in_loop) or [gast.Pass()] * bool(inner)
        return [s]

    def _both_stay(
        self, s: gast.If | gast.With | gast.Try, rest: list[gast.stmt], in_loop: bool
    ) -> list[gast.stmt]:
        """A statement with a jump deep inside, where several paths may go on: a flag guards what follows.

        After `leave`, `broke` and the flag of a return tell a `break` and a `return` from a `continue`.
        """
        leave, broke = self.fresh.new("leave"), self.fresh.new("broke")
        for inner in flow.blocks(s):
            inner[:] = self._to_flags(inner, leave, broke, in_loop) or [gast.Pass()] * bool(inner)
        start: list[gast.stmt] = [assign(leave, constant(False))]
        out: list[gast.stmt] = [gast.Pass()]
        if _assigns(s, broke):
            start.append(assign(broke, constant(False)))
            out = [if_jumped(broke, [gast.Break()], [])]
        if in_loop and self.returned and _assigns(s, self.returned):
            out = [if_jumped(self.returned, [_left(self.returned)], out)]
        return [*start, s, if_jumped(leave, out, self.block(rest, in_loop))]

    def _to_flags(self, body: list[gast.stmt], leave: str, broke: str, in_loop: bool) -> list[gast.stmt]:
        """A block whose jumps set flags instead; what would have been jumped over is skipped."""
        done: list[gast.stmt] = []
        for position, s in enumerate(body):
            if isinstance(s, gast.Return):
                done.append(gast.copy_location(assign(self.result, s.value), s))
                flags = [self._flag(), leave] if in_loop else [leave]
                return done + [assign(flag, constant(True)) for flag in flags]
            if isinstance(s, gast.Break):
                return [*done, assign(broke, constant(True)), assign(leave, constant(True))]
            if isinstance(s, gast.Continue):
                return [*done, assign(leave, constant(True))]
            done.append(s)
            if isinstance(s, gast.Raise):
                return done
            if isinstance(s, (gast.If, gast.With, gast.Try)):
                for inner in flow.blocks(s):
                    inner[:] = self._to_flags(inner, leave, broke, in_loop) or [gast.Pass()] * bool(inner)
            elif isinstance(s, (gast.For, gast.While)) and self._loop(s):
                done.append(if_jumped(self._flag(), [assign(leave, constant(True))], []))
            rest = body[position + 1 :]
            if rest and _assigns(done[-1], leave):
                skipped = self._to_flags(rest, leave, broke, in_loop)
                return [*done, if_jumped(leave, [gast.Pass()], skipped)]
        return done

    def _loop(self, s: gast.For | gast.While) -> bool:
        """Structure a loop's body; returns whether the loop may leave the function."""
        left = jumps(s.body, gast.Return, through_loops=True)
        s.body = self.block(s.body, in_loop=True) or [gast.Pass()]
        return left

    def _after_return(self, s: gast.stmt, rest: list[gast.stmt], in_loop: bool) -> list[gast.stmt]:
        """What follows a loop that may have returned."""
        only_return = endless(s) and not _plain_break(s.body, self._flag())
        stop: list[gast.stmt] = [_left(self._flag())] if in_loop else []
        if only_return:
            return stop
        following = self.block(rest, in_loop)
        if not stop and not following:
            return []
        return [if_jumped(self._flag(), stop or [gast.Pass()], following)]


def _left(flag: str) -> gast.Break:
    """A `break` that is reached only where a flag is set."""
    made = gast.Break()
    made.flag = flag
    return made


def _plain_break(body: list[gast.stmt], flag: str) -> bool:
    """Whether a structured block has a `break` that is not that of a return."""
    for position, s in enumerate(body):
        if isinstance(s, gast.Break):
            return not (position and _assigns(body[position - 1], flag))
        if isinstance(s, gast.If):
            tests_flag = isinstance(s.test, gast.Name) and s.test.id == flag
            if (not tests_flag and _plain_break(s.body, flag)) or _plain_break(s.orelse, flag):
                return True
    return False


def _assigns(s: gast.stmt, target: str) -> bool:
    return target in flow.writes([s])


def _header_span(function: gast.FunctionDef) -> Span:
    column = function.col_offset + len("def ")
    return Span(function.lineno, column, function.lineno, column + len(function.name))
