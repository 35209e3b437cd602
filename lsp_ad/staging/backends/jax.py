"""JAX: conditionals and loops of `jax.lax`, NumPy functions of `jax.numpy`."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.core import trace_state_clean

from lsp_ad.staging.backends import jax_trees as jax_trees  # which staging takes apart from here on
from lsp_ad.staging.backends.base import PLAIN, Backend, Ended, Options, Spec, Traced, is_data, spec_of
from lsp_ad.staging.backends.jax_choices import are_cheap
from lsp_ad.staging.context import compiling, wishes
from lsp_ad.staging.errors import noted, staging_error, user_place
from lsp_ad.staging.operators.bounds import whole_numbers
from lsp_ad.staging.operators.lists import plain
from lsp_ad.staging.operators.optional import computed
from lsp_ad.staging.operators.picked import Picked, computed_masks, pick, unknown, written
from lsp_ad.staging.operators.texts import staged_parts
from lsp_ad.staging.operators.types import is_number
from lsp_ad.staging.structures import flatten, unflatten

_COMPUTED: Any = object()  # stands for a part of a result that the compiled code gives
_UNDECIDABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


class Jax(Backend):
    name = "jax"
    takes_arrays = True
    optional = True
    raises_if_asked = True

    def __init__(self) -> None:
        self._failed: list[Exception] = []

    def owns(self, value: Any) -> bool:
        return isinstance(value, jax.core.Tracer)

    def holds(self, value: Any) -> bool:
        return isinstance(value, jax.Array)

    def spec(self, value: Any) -> Spec:
        if isinstance(value, jax.Array):
            return Spec(np.dtype(value.dtype), tuple(value.shape), bool(getattr(value, "weak_type", False)))
        found = spec_of(value)
        return replace(found, dtype=np.dtype(jax.dtypes.canonicalize_dtype(found.dtype)))

    def trace(self, run: Callable[[list[Any]], list[Any]], specs: Sequence[Spec]) -> Traced:
        found: list[Spec] = []
        ends = False

        def flat(*inputs: Any) -> list[Any]:
            nonlocal ends
            try:
                outputs = run(list(inputs))
            except Ended:
                outputs, ends = [], True
            found[:] = [self.spec(value) for value in outputs]
            return [jnp.asarray(value) for value in outputs]

        shapes = [jax.ShapeDtypeStruct(s.shape, s.dtype, weak_type=s.weak) for s in specs]
        code = jax.make_jaxpr(flat)(*shapes)
        # without 64 bits JAX makes less of a dtype than was asked for
        made = [
            Spec(np.dtype(a.dtype), tuple(a.shape), s.weak)
            for a, s in zip(code.out_avals, found, strict=True)
        ]
        return Traced(tuple(made), code, effects=bool(code.effects), ends=ends)

    def cond(self, test: Any, then: Traced, orelse: Traced, specs: Sequence[Spec]) -> list[Any]:
        def branch(traced: Traced) -> Callable[[], list[Any]]:
            return lambda: self._outcome(traced, [], specs)

        test = jnp.reshape(test, ()).astype(bool)
        truths = specs and all(s.dtype == bool and s.shape == () for s in specs)
        if truths and are_cheap(then.code, orelse.code):
            return [lax.select(test, *pair) for pair in zip(branch(then)(), branch(orelse)(), strict=True)]
        return lax.cond(test, branch(then), branch(orelse))

    def _outcome(self, traced: Traced, inputs: list[Any], specs: Sequence[Spec]) -> list[Any]:
        outputs = _replay(traced, inputs)
        if traced.ends:  # nothing comes after the error that it raises
            traced = replace(traced, picks=(None,) * len(specs))
        return self.results(traced, outputs, specs)

    def while_loop(
        self,
        test: Traced,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        options: Options = PLAIN,
    ) -> list[Any]:
        return lax.while_loop(
            lambda state: jnp.reshape(_replay(test, state)[0], ()).astype(bool),
            lambda state: self._outcome(body, state, specs),
            initial,
        )

    def for_loop(
        self,
        count: Any,
        body: Traced,
        initial: list[Any],
        specs: Sequence[Spec],
        arrays: Sequence[Any] = (),
        options: Options = PLAIN,
    ) -> list[Any] | None:
        """A scan where the number of iterations is known, which JAX can differentiate backwards."""

        def step(state: list[Any], found: Sequence[Any]) -> tuple[list[Any], None]:
            return self._outcome(body, [*found, *state], specs), None

        if isinstance(count, int):
            return list(lax.scan(step, initial, (jnp.arange(count), *arrays))[0])
        return lax.fori_loop(0, count, lambda i, state: step(state, [i])[0], initial)

    def numpy(self, name: str) -> Callable[..., Any] | None:
        found: Any = jnp
        for part in name.split("."):
            found = getattr(found, part, None)
        return found if found is None or isinstance(found, type) else _taking_lists(found)

    def cast(self, value: Any, spec: Spec) -> Any:
        return jnp.asarray(value, jax.dtypes.canonicalize_dtype(spec.dtype))

    def constant(self, value: Any) -> Any:
        return jnp.asarray(value)

    def copied(self, value: Any) -> Any:
        return jnp.array(value)

    def _is_mask(self, index: Any) -> bool:
        return self.owns(index) and index.dtype == bool

    def set_item(self, value: Any, index: Any, new: Any) -> Any:
        if self._is_mask(index):
            return written(self, jnp.asarray(value), index, new)
        return jnp.asarray(value).at[self._inside(value, _index(index))].set(new)

    def get_item(self, value: Any, index: Any) -> Any:
        index = self._inside(value, _index(index))
        if self._is_mask(index):
            return pick(self, jnp.asarray(value), index)
        if isinstance(index, tuple) and any(map(self._is_mask, index)):
            raise unknown()
        return jnp.asarray(value)[index]

    def add_at(self, value: Any, index: Any, by: Any) -> Any:
        if self._is_mask(index):
            return written(self, jnp.asarray(value), index, by, add=True)
        return jnp.asarray(value).at[self._inside(value, _index(index))].add(by)

    def _inside(self, value: Any, index: Any) -> Any:
        """The index, to be checked when the code runs, where it is not known and that is asked for."""
        for part, axis, size in whole_numbers(index, np.shape(value)) if wishes().check_bounds else ():
            if self.owns(part):
                place = ":".join(map(str, user_place()))
                text = f"{place}: an index is out of bounds for axis {axis} with size {size}"
                self.require((part >= -size) & (part < size), "IndexError", text)
        return index

    def is_description(self, value: Any) -> bool:
        return isinstance(value, jax.ShapeDtypeStruct)

    def trace_only(self, function: Callable[..., Any], args: tuple, named: dict[str, Any]) -> None:
        leaves, structure = flatten((args, named))
        where = [i for i, leaf in enumerate(leaves) if self.is_description(leaf)]

        def run(*data: Any) -> list[Any]:
            given = dict(zip(where, data, strict=True))
            made = unflatten(structure, [given.get(i, leaf) for i, leaf in enumerate(leaves)])
            return [leaf for leaf in flatten(function(*made[0], **made[1]))[0] if self.owns(leaf)]

        jax.eval_shape(run, *(leaves[i] for i in where))

    def underlying(self, function: Any) -> Any:
        return function.__wrapped__ if type(function).__name__ == "PjitFunction" else None

    def is_undecidable(self, error: BaseException) -> bool:
        key = isinstance(error, TypeError) and "unhashable" in str(error) and "Tracer" in str(error)
        size = isinstance(error, TypeError) and "concrete values" in str(error)
        picked = isinstance(error, TypeError) and f"{Picked.__module__}.{Picked.__name__}" in str(error)
        return key or size or picked or isinstance(error, _UNDECIDABLE)

    def tidy(self, error: BaseException) -> None:
        notes = getattr(error, "__notes__", [])
        notes[:] = [note for note in notes if "JAX has removed its internal frames" not in note]

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Arrays and floats are staged; other arguments are known when tracing: one trace for each value.

        Computes in 64 bits where the arguments have them, and returns arrays and numbers of NumPy.
        """

        @functools.wraps(function)
        def compiled(*args: Any, **named: Any) -> Any:
            leaves, structure = flatten((args, named))
            known = tuple((i, type(v), v) for i, v in enumerate(leaves) if not is_data(v))
            with jax.enable_x64(True), self._assertions():
                data = [v for v in leaves if is_data(v)]
                key = structure, known, tuple(map(jax.typeof, data))
                outputs = iter(jitted(structure, known, *data))
                form, leaves = results[key]
                found = [_computed(next(outputs)) if v is _COMPUTED else v for v in leaves]
                return plain(computed_masks(computed(unflatten(form, found))), _computed)

        results: dict[Any, Any] = {}  # of each trace the structure of the result, and what in it is no number

        @functools.partial(jax.jit, static_argnums=(0, 1))
        def jitted(structure: Any, known: tuple, *data: Any) -> list[Any]:
            fixed = {i: value for i, _, value in known}
            rest = iter(data)
            leaves = [fixed[i] if i in fixed else next(rest) for i in range(len(fixed) + len(data))]
            args, named = unflatten(structure, leaves)
            key = structure, known, tuple(map(jax.typeof, data))
            with compiling(self):
                found, form = flatten(function(*args, **named))
            given = [is_number(v) or self.owns(v) or self.holds(v) for v in found]
            results[key] = form, [_COMPUTED if g else v for v, g in zip(found, given, strict=True)]
            return [v for v, g in zip(found, given, strict=True) if g]

        return compiled

    def assert_(self, test: Any, message: Callable[[], str]) -> None:
        """Checked when the code runs; under `jax.vmap` both branches of a conditional run."""
        text = message()
        self._check(test, lambda: AssertionError(text) if text else AssertionError(), *user_place())

    @property
    def raises(self) -> bool:  # type: ignore[override]
        return wishes().raise_errors

    def raise_(self, error: Exception, place: str) -> None:
        values, made = staged_parts(error.with_traceback(None))
        noted(error, place)

        def fail(*found: Any) -> None:
            self._failed.append(made([np.asarray(v)[()] for v in found]))
            raise self._failed[-1]

        jax.debug.callback(fail, *values, ordered=True)  # so that the first error is that of Python

    def require(self, test: Any, error: str, message: str) -> None:
        self._check(test, lambda: getattr(builtins, error)(message), *user_place())

    def _check(self, test: Any, error: Callable[[], Exception], *place: Any) -> None:
        def check(holds: Any) -> None:
            if not np.all(holds):
                self._failed.append(noted(error(), ":".join(map(str, place)) or None))
                raise self._failed[-1]

        jax.debug.callback(check, test)

    @contextmanager
    def _assertions(self) -> Iterator[None]:
        """Assertions that fail in compiled code raise AssertionError, not what JAX makes of it."""
        self._failed.clear()
        try:
            yield
        except jax.errors.JaxRuntimeError:
            if self._failed:
                raise self._failed[0] from None
            raise

    def print_(self, *values: Any, **options: Any) -> None:
        sep = options.pop("sep", " ")
        self.print_text(sep.join("{}" for _ in values), *values, **options)

    def print_text(self, template: str, *values: Any, **options: Any) -> None:
        if options.pop("end", "\n") != "\n" or options.pop("file", None) is not None:
            raise staging_error("JAX prints whole lines, to where Python prints.")
        options.pop("flush", None)
        jax.debug.print(template, *values, **options)

    def tracing(self) -> bool:
        return not trace_state_clean()


def _replay(traced: Traced, inputs: list[Any]) -> list[Any]:
    casted = [jnp.asarray(v, a.dtype) for v, a in zip(inputs, traced.code.in_avals, strict=True)]
    return list(jax.core.eval_jaxpr(traced.code.jaxpr, traced.code.consts, *casted))


def _taking_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX that takes lists for arrays where JAX refuses them and NumPy does not."""

    @functools.wraps(function)
    def taking(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            if "requires ndarray or scalar arguments" not in str(error):
                raise
        named = {key: _array(value) for key, value in options.items()}
        return function(*map(_array, args), **named)

    return taking


def _array(value: Any) -> Any:
    """A list, or a tuple of staged values, as an array; any other argument as it is."""
    leaves = flatten(value)[0]
    staged = any(isinstance(leaf, jax.Array) for leaf in leaves)
    if not isinstance(value, (list, tuple)) or (isinstance(value, tuple) and not staged):
        return value
    return jnp.asarray(value) if staged else np.asarray(value)


def _index(index: Any) -> Any:
    """An index, lists in it as arrays, as NumPy takes them."""
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    return _array(index) if isinstance(index, list) else index


def _computed(value: Any) -> Any:
    """A result as an array or a number of NumPy; other Python values as they are."""
    return np.asarray(value)[()] if hasattr(value, "dtype") else value


BACKEND = Jax()
