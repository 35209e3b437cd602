"""How sure it is that a value is traced: by library functions, operators, and the use of a parameter.

A rule that says "this fails" speaks only of a value that is surely traced (`Sure.ITSELF`): not of what may be
a Python number, a list of arrays, or an array from outside the function.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from lsp_ad.checks.origins import (
    FIELD,
    PARTS,
    TENSOR,
    TRACED,
    UNKNOWN,
    Kind,
    Origin,
    Sure,
    computed,
    derived,
    held,
    outside,
)
from lsp_ad.checks.parameters import defaults_of
from lsp_ad.checks.staged_functions import Functions, Place, Staged
from lsp_ad.source.trees import walk

FORM_OF_ARRAYS = {"size", "itemsize", "nbytes", "sharding", "weak_type", "aval", "name", "op", "graph",
                  "device", "committed"}
_ARRAY_ATTRIBUTES = {
    "shape", "ndim", "dtype", "T", "at", "astype", "sum", "mean", "prod", "std", "var", "max", "min", "any",
    "all", "argmax", "argmin", "reshape", "ravel", "flatten", "transpose", "dot", "cumsum", "cumprod",
    "squeeze", "round", "clip", "item", "tolist", "set_shape", "numpy",
}  # fmt: skip
_CONTAINERS = {
    "array", "asarray", "stack", "concatenate", "vstack", "hstack", "concat", "shape", "ndim", "size",
}  # fmt: skip
_LAX_CONTROL = {
    "cond", "switch", "while_loop", "fori_loop", "scan", "map", "associative_scan", "platform_dependent",
}  # fmt: skip
_TENSOR_MODULES = ("jax.numpy.", "jax.nn.", "jax.random.", "jax.scipy.", "jax.lax.")
_TF_MODULES = ("math", "nn", "linalg", "random", "image", "signal")
_TF_OTHERS = {
    "function", "print", "py_function", "numpy_function", "group", "device", "name_scope", "cond", "case",
    "while_loop", "map_fn", "scan", "foldl", "foldr", "vectorized_map", "split", "unstack", "meshgrid",
    "switch_case", "is_tensor", "get_static_value", "executing_eagerly", "no_op", "init_scope",
    "control_dependencies", "recompute_grad", "custom_gradient", "as_dtype", "range", "unique",
}  # fmt: skip
_DISPLAYS = (gast.List, gast.Tuple, gast.ListComp)
# Functions of TensorFlow that give tuples.
_SEVERAL = {
    "moments", "weighted_moments", "sufficient_statistics", "normalize_moments", "top_k", "unique",
    "unique_with_counts", "eigh", "eig", "svd", "qr", "lu", "slogdet", "max_pool_with_argmax", "frexp",
    "fused_batch_norm", "batch_norm", "ctc_greedy_decoder", "ctc_beam_search_decoder", "setdiff1d",
    "clip_by_global_norm", "dynamic_partition", "tuple", "identity_n", "shape_n", "gradients", "split",
    "unstack", "meshgrid", "required_space_to_batch_paddings", "all_candidate_sampler",
    "log_uniform_candidate_sampler", "learned_unigram_candidate_sampler", "uniform_candidate_sampler",
    "fixed_unigram_candidate_sampler", "stateless_split", "cond", "while_loop", "case", "switch_case",
    "get_global_generator", "embedding_lookup_sparse", "raw_rnn", "sample_distorted_bounding_box",
}  # fmt: skip
_OF_DICTS = {"get", "pop", "values", "copy", "setdefault"}
_OF_NUMBERS = {"abs", "float", "int", "complex", "round", "divmod", "pow"}
_MAKES_ARRAYS = {"zeros", "ones", "full", "empty", "eye", "arange", "linspace"}
_LEAVES = {"jax.tree.leaves", "jax.tree_util.tree_leaves", "jax.tree_leaves"}
FLATTENED = {"jax.tree.flatten", "jax.tree_util.tree_flatten", "jax.flatten_util.ravel_pytree"}
_PLAIN_JAX = {"finfo", "iinfo", "dtype", "promote_types", "can_cast", "array_str", "array_repr"}


def of_call(canonical: str, arguments: list[Origin]) -> Origin:
    """The origin of what a function of JAX or TensorFlow gives, called while a function is traced."""
    sure = max((o.sure for o in arguments), default=Sure.MAYBE)
    module, _, name = canonical.rpartition(".")
    if canonical.startswith("tensorflow."):
        parts = canonical.split(".")
        tensor = (len(parts) == 2 or parts[1] in _TF_MODULES) and name not in _TF_OTHERS and name.islower()
        return TRACED if not tensor else computed_of(name not in _SEVERAL)
    if canonical in _LEAVES:
        return PARTS if sure >= Sure.PARTS else TRACED
    made = module == "jax.numpy" and name in _MAKES_ARRAYS
    public = not name.startswith("_")
    if canonical.startswith(_TENSOR_MODULES) and public and name not in _PLAIN_JAX and (sure or made):
        return computed_of(not (module == "jax.lax" and name in _LAX_CONTROL))
    return TRACED


def computed_of(itself: bool) -> Origin:
    return TENSOR if itself else PARTS


def of_operation(op: gast.AST, left: tuple[gast.AST, Origin], right: tuple[gast.AST, Origin]) -> Origin:
    """The origin of a binary operation: lists can be added and repeated, nothing else is done to them."""
    origins = [left[1], right[1]]
    numbers = [node for node, _ in (left, right) if is_number(node)]
    if isinstance(op, gast.Add) and any(isinstance(node, _DISPLAYS) for node, _ in (left, right)):
        return held(origins)
    if isinstance(op, gast.Add) and not numbers:
        return derived(origins)
    if isinstance(op, gast.Mult) and not any(isinstance(_number(n), float) for n in numbers):
        return derived(origins)
    if isinstance(op, gast.Mod) and isinstance(left[0], (gast.Constant, gast.JoinedStr)) and not numbers:
        return outside(derived(origins))  # a text
    return computed(origins)


def of_comparison(node: gast.Compare, origins: list[Origin]) -> Origin:
    """The origin of a comparison that is neither of identity nor of membership."""
    equal = all(isinstance(op, (gast.Eq, gast.NotEq)) for op in node.ops)
    texts = any(isinstance(o, gast.Constant) and not is_number(o) for o in [node.left, *node.comparators])
    found = derived(origins)
    if texts:
        return TRACED if found.kind is Kind.TRACED else found
    numbers = any(map(is_number, [node.left, *node.comparators]))
    if equal and not numbers and found.sure is not Sure.ITSELF:
        return found  # what a tree has among its leaves, and beside them, may be compared like that
    return computed(origins)


def of_attribute(base: Origin, name: str) -> Origin:
    """The origin of an attribute that nothing else is known of."""
    if base.kind is Kind.TRACED and name in FORM_OF_ARRAYS:
        return Origin(Kind.FORM, f"`{name}` is known then") if base.sure is Sure.ITSELF else UNKNOWN
    return FIELD if base.sure is Sure.PARTS else derived([base])


def of_subscript(base: Origin, index: Origin) -> Origin:
    return _part(base, derived([base, index]))


def of_method(base: Origin, name: str, arguments: Iterable[Origin]) -> Origin:
    """The origin of what a method gives, of an object whose class is not known."""
    if base.sure is Sure.PARTS and name in _ARRAY_ATTRIBUTES:
        return TENSOR
    if base.sure is Sure.PARTS and name not in _OF_DICTS:
        return TRACED if name in ("keys", "items") else FIELD
    return _part(base, derived([base, *arguments]))


def _part(base: Origin, found: Origin) -> Origin:
    """The origin of what is taken from a value: of a traced value it is one, too."""
    if base.sure:
        return FIELD if base.sure is Sure.FIELD else computed_of(base.sure is Sure.ITSELF)
    return TRACED if found.kind is Kind.TRACED else found


def of_builtin(name: str, arguments: list[Origin]) -> Origin:
    """The origin of what a function of Python gives that only computes."""
    if name in ("all", "any", "bool"):
        return outside(computed(arguments))  # of a traced value it fails
    many = name in ("enumerate", "frozenset", "reversed", "set", "sorted", "tuple", "zip", "divmod", "range")
    return held(arguments) if many else computed(arguments)


def is_number(node: gast.AST) -> bool:
    """A number that is written out."""
    if isinstance(node, gast.UnaryOp):
        node = node.operand
    return isinstance(node, gast.Constant) and isinstance(node.value, (int, float, complex))


def tensors_by_use(functions: Functions, place: Place, staged: Staged) -> set[str]:
    """The parameters of a staged function whose use shows that they are arrays, and so are traced.

    An attribute of arrays shows it everywhere. Under jax.jit, which traces numbers too, what is done to
    numbers shows that it is no list or dict.
    """
    names = set(place.parameters) - defaults_of(place.node).keys()
    found = set()
    for node in walk(place.node):
        if isinstance(node, gast.Attribute):
            used = [node.value] if node.attr in _ARRAY_ATTRIBUTES else []
        elif not staged.jitted:
            continue
        elif isinstance(node, gast.Call):
            used = _numbers_in_call(node, functions.canonical(node.func, place) or "")
        else:
            used = _numbers_in(node)
        found |= {n.id for n in used if isinstance(n, gast.Name)}
    return found & names


def _numbers_in_call(node: gast.Call, canonical: str) -> list[gast.expr]:
    """The arguments of a call that have to be numbers or arrays."""
    module, _, name = canonical.rpartition(".")
    if module == "builtins":
        several = name in ("min", "max") and len(node.args) > 1
        return node.args if several else node.args[:1] if name in _OF_NUMBERS else []
    if module == "math":
        return node.args
    of_arrays = f"{module}." in _TENSOR_MODULES or module == "numpy"
    return node.args[:1] if of_arrays and name.islower() and name not in _CONTAINERS | _LAX_CONTROL else []


def _numbers_in(node: gast.AST) -> list[gast.expr]:
    """The operands of an operation that have to be numbers or arrays."""
    if isinstance(node, gast.BinOp):
        sides = [node.left, node.right]
        if isinstance(node.op, (gast.Sub, gast.Div, gast.Pow, gast.MatMult, gast.FloorDiv)):
            return sides
        numbers = [s for s in sides if is_number(s)]
        added = isinstance(node.op, gast.Add) and numbers
        return sides if added or any(isinstance(_number(s), float) for s in numbers) else []
    if isinstance(node, gast.Compare) and any(map(is_number, [node.left, *node.comparators])):
        identity = isinstance(node.ops[0], (gast.In, gast.NotIn, gast.Is, gast.IsNot))
        return [] if identity else [node.left, *node.comparators]
    negated = isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd, gast.Invert))
    return [node.operand] if negated else []


def _number(node: gast.AST) -> object:
    return node.operand.value if isinstance(node, gast.UnaryOp) else node.value
