"""What all converters of expressions share: they go through one function, not those in it."""

from __future__ import annotations

import gast

from lsp_ad.staging.converters.building import at


class Expressions(gast.NodeTransformer):
    """Visits the parts before the whole. A subclass gives `convert(node)` for the classes in `kinds`."""

    kinds: tuple[type, ...] = ()

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, (gast.FunctionDef, gast.ClassDef, gast.AsyncFunctionDef)):
            self.around(node)
            return node  # converted by itself
        self.generic_visit(node)
        return self.converted(node)

    def around(self, node: gast.AST) -> None:
        """Convert what a definition evaluates where it stands."""
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        if isinstance(node, gast.FunctionDef):
            node.args.defaults = [self.visit(d) for d in node.args.defaults]
            node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]

    def converted(self, node: gast.AST) -> gast.AST:
        """What a node becomes whose parts are converted already."""
        return at(self.convert(node), node) if isinstance(node, self.kinds) else node

    def convert(self, node: gast.AST) -> gast.AST:
        raise NotImplementedError


def convert_body(converter: Expressions, body: list[gast.stmt]) -> list[gast.stmt]:
    """Convert the expressions of a block."""
    return [converter.visit(s) for s in body]
