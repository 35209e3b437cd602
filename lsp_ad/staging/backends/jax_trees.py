"""Objects of classes that are registered with JAX as trees (`jax.tree_util`), taken apart and made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from lsp_ad.staging.structures import Form, recognize


@dataclass(frozen=True)
class Tree(Form):
    """An object without its children, as JAX describes it."""

    definition: Any

    def made(self, parts: list[Any]) -> Any:
        return self.definition.unflatten(parts)

    def __str__(self) -> str:
        return f"with {self.definition.node_data()[1]!r} besides its {self.definition.num_leaves} parts"


def _taken(value: Any) -> tuple[list[Any], Form] | None:
    if isinstance(value, (jax.Array, type)):
        return None
    parts, definition = jax.tree_util.tree_flatten(value, is_leaf=lambda part: part is not value)
    return None if len(parts) == 1 and parts[0] is value else (parts, Tree(definition))


recognize(_taken)
