"""Loops: those of Python are gone through iteration by iteration, staged ones until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gast

from lsp_ad.checks.parameters import defaults_of
from lsp_ad.checks.prediction.expressions import Enough, Prediction
from lsp_ad.checks.prediction.statements import Statements
from lsp_ad.checks.prediction.values import (
    FALSE,
    STAGED,
    UNCLEAR,
    Frame,
    Known,
    Meeting,
    Python,
    Staged,
    Unclear,
    Value,
    combined,
    copied,
    is_number,
    same,
    truth,
)
from lsp_ad.checks.staged_functions import Functions, Place
from lsp_ad.semantics.names import Program, bound_names
from lsp_ad.staging.converters.leading_breaks import leading

_ROUNDS = 8  # of loops, until the state no longer changes
_LONGEST = 2000  # iterations that are followed one by one
LONGEST_UNROLLED = 64  # from there on lsp_ad stages a range, where it compiles a function


def predict(
    program: Program,
    name: str,
    arguments: Mapping[str, Value],
    converts: bool = True,
    compiled: bool = True,
    sizes: bool = False,
) -> list[Prediction]:
    """What is decided about the constructs of a function, in the order in which it happens.

    `arguments`: what is known of its parameters. `compiled`: by `staged(f, backend=...)`, which stages long
    ranges. `sizes`: those of arrays are staged, as on Lantern.
    """
    functions = Functions(program)
    place = functions.find(gast.Name(name, gast.Load(), None, None), None)
    if place is None:
        raise KeyError(name)
    return Predictor(functions, converts, compiled, sizes).of(place, arguments)


class Predictor(Statements):
    """Goes through a function without running it. `compiled`: by a back end of lsp_ad; `sizes`: it is one
    that stages the sizes of arrays."""

    def __init__(
        self, functions: Functions, converts: bool = True, compiled: bool = True, sizes: bool = False
    ):
        super().__init__(functions, converts)
        self.sizes = sizes
        self._compiled = compiled
        self._unsettled: list[int] = []  # how many predictions there were before each loop around

    def of(self, place: Place, arguments: Mapping[str, Value]) -> list[Prediction]:
        given = {
            n: Known(d.value) if isinstance(d, gast.Constant) else Python()
            for n, d in defaults_of(place.node).items()
        }
        names = dict.fromkeys(place.parameters, UNCLEAR) | given | dict(arguments)
        try:
            with self.inside(Frame(place, None, names)):
                if place.receiver is not None and place.receiver not in arguments:
                    names[place.receiver] = self.receiver(place)
                self.run(place)
        except (Enough, RecursionError):
            self.forget(next(iter(self._unsettled), len(self._found)))
        return self.found

    def _while(self, s: gast.While) -> None:
        _, body = _options(s.body)
        canonical = self.functions.program.canonical
        breaks = leading(s, body, lambda node: canonical(node, self.frame.place.locals))
        body = body[len(breaks) :]
        self._enter()
        count = 0
        while True:
            test = self._goes_on(lambda: self._tested(s.test, breaks))
            if isinstance(test, Known) and count < _LONGEST:
                if not test.value:
                    self.note(s, "while", "unrolled", count)
                    break
                self._iteration(body)
                count += 1
                continue
            self._unknown(s, "while", test)
            self._settle(test, body, lambda: self._tested(s.test, breaks))
            break
        self._leave(s.orelse)

    def _tested(self, test: gast.expr, breaks: list[gast.If]) -> Value:
        """The condition of a `while` loop, with those of the breaks where its body begins."""
        here, ends = truth(self.asked(self.plain(self.value(test)))), False
        for s in breaks:
            if ends or (isinstance(here, Known) and not here.value):
                return here
            stops = self.asked(self.plain(self.value(s.test)))
            self.decide(s, "if", stops)
            known = truth(stops)
            ends = isinstance(known, Known) and bool(known.value)
            if not isinstance(here, Known):
                here = combined(here, stops)
            else:
                here = Known(not known.value) if isinstance(known, Known) else stops
        return here

    def _for(self, s: gast.For) -> None:
        unroll, body = _options(s.body)
        over = self.plain(self.value(s.iter))
        items = self.elements(over)
        self._enter()
        is_long = (
            self._compiled and isinstance(over, Known) and items is not None and len(items) > LONGEST_UNROLLED
        )
        if unroll is False or (is_long and unroll is None):
            over, items = STAGED, None
        if isinstance(over, Staged) and not self.converts:
            over = Python() if not over.is_list else UNCLEAR
            item: Value = STAGED
        else:
            item = over if isinstance(over, (Staged, Unclear)) else combined(over)
        if items is None or len(items) > _LONGEST:
            self._unknown(s, "for", over)
            self._settle(over, body, lambda: self.bind(s.target, item))
        else:
            self.note(s, "for", "unrolled", self._unrolled(s.target, items, body))
        self._leave(s.orelse)

    def _unrolled(self, target: gast.expr, items: list[Value], body: list[gast.stmt]) -> int:
        """Go through the iterations of a loop one by one; how many there are."""
        for count, item in enumerate(items):
            jumped = self._jumped()
            if isinstance(jumped, Known):
                if jumped.value:
                    return count
                self.bind(target, item)
                self._iteration(body)
                continue

            def guarded(item: Value = item) -> None:
                self._go_on()
                self.bind(target, item)
                self._iteration(body)

            self.either(jumped, guarded, lambda: None)
        return len(items)

    def _unknown(self, s: gast.stmt, construct: str, value: Value) -> None:
        """Note a loop that is not unrolled one by one."""
        if construct == "for" and not self.converts:
            self.note(s, construct, "unrolled")
        elif isinstance(value, Staged):
            self.note(s, construct, "staged" if self.converts else "fails")
        else:
            self.note(s, construct, None if isinstance(value, Unclear) else "unrolled")

    def _enter(self) -> None:
        self._loops += 1
        self.frame.names[f"break {self._loops}"] = self.frame.names[f"continue {self._loops}"] = FALSE

    def _leave(self, orelse: list[gast.stmt]) -> None:
        broken = self.frame.names.pop(f"break {self._loops}", FALSE)
        self.frame.names.pop(f"continue {self._loops}", None)
        self._loops -= 1
        if orelse and isinstance(broken, Known):
            self.block([] if broken.value else orelse)
        elif orelse:
            self.either(broken, lambda: None, lambda: self.block(orelse))

    def _iteration(self, body: list[gast.stmt]) -> None:
        self.block(body)
        self.frame.names[f"continue {self._loops}"] = FALSE

    def _goes_on(self, test: Callable[[], Value]) -> Value:
        """The condition of a `while` loop, with that of no jump so far."""
        jumped = self._jumped()
        if isinstance(jumped, Known):
            return FALSE if jumped.value else test()
        _, here = self.either(jumped, lambda: None, test)
        return FALSE if isinstance(here, Known) and not here.value else jumped

    def _settle(self, how: Value, body: list[gast.stmt], start: Callable[[], object]) -> None:
        """Go through a loop until what is known after an iteration is known before it, too."""
        if isinstance(how, Staged):
            for name in bound_names(body):
                frame = self._owner(name)
                if name in frame.names and is_number(frame.names[name]):
                    frame.names[name] = STAGED
        mark = len(self._found)
        self._unsettled.append(mark)
        for _ in range(_ROUNDS):
            self.forget(mark)
            before = self.state()
            self._go_on()
            start()
            self._iteration(body)
            after = {f: f.names for f in self.frames}
            known: dict[int, Value] = {}
            start_again = {f: {n: copied(v, known) for n, v in names.items()} for f, names in before.items()}
            Meeting(how).states(after, start_again)
            if all(self._is_settled(f, names) for f, names in before.items()):
                break
        self._unsettled.pop()

    @staticmethod
    def _is_settled(frame: Frame, before: dict[str, Value]) -> bool:
        return frame.names.keys() == before.keys() and all(
            same(v, before[n]) or (isinstance(v, Python) and isinstance(before[n], Python))
            for n, v in frame.names.items()
        )


def _options(body: list[gast.stmt]) -> tuple[bool | None, list[gast.stmt]]:
    """What `lsp_ad.loop_options(unroll=...)` at the start of a loop says, and the rest of the loop."""
    first = body[0]
    if isinstance(first, gast.Expr) and isinstance(first.value, gast.Call):
        function = first.value.func
        if getattr(function, "attr", getattr(function, "id", "")) == "loop_options":
            given = {k.arg: k.value for k in first.value.keywords}
            unroll = given.get("unroll")
            return (unroll.value if isinstance(unroll, gast.Constant) else None), body[1:]
    return None, body
