"""Hessians and Jacobians: functions that call a product once for each element of each parameter.

    def f_hessian(x):                                         # f_hvp is written before it
        hessian = np.zeros((np.size(x), np.size(x)))
        for i in range(np.size(x)):
            vx = np.zeros(np.size(x))
            vx[i] = 1.0
            hessian[i] = np.ravel(f_hvp(x, np.reshape(vx, np.shape(x))))
        return np.reshape(hessian, np.shape(x) + np.shape(x))

A Jacobian is put together from its columns, by forward mode; its shape is that of the result, then that
of the parameter. For several parameters it is a tuple of one for each, the Hessian a tuple of such tuples.
"""

from __future__ import annotations

import re

import gast

from lsp_ad.source.printing import INDENT, expression_text
from lsp_ad.source.trees import copied

WORDS = {"hessian": "Hessian", "jacobian": "Jacobian"}


class Stacked:
    """The text of a Hessian or a Jacobian. `product` is the function that it calls, and `tangents` its last
    parameters, each with the parameter that it belongs to."""

    def __init__(self, mode: str, name: str, product: gast.FunctionDef, tangents: dict[str, str], numpy: str):
        self.mode, self.name, self.product, self.tangents, self.np = mode, name, product, tangents, numpy
        arguments = product.args
        lists = (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)
        self.taken = {a.id for ids in lists for a in ids} | {numpy, product.name, "range", name}

    def lines(self) -> list[str]:
        """The function, line by line."""
        parameters = list(self.tangents)
        body = self._hessian(parameters) if self.mode == "hessian" else self._jacobian(parameters)
        title = gast.get_docstring(self.product) or ""
        title = WORDS[self.mode] + re.sub(r"^.*?(?= of )", "", title, count=1)
        head = [f"def {self.name}({expression_text(self._signature())}):", f'{INDENT}"""{title}"""']
        return [*head, *(INDENT + line for line in body)]

    def _signature(self) -> gast.arguments:
        arguments = copied(self.product.args)
        count = len(self.tangents)
        arguments.args = arguments.args[:-count]
        if arguments.defaults:
            arguments.defaults = arguments.defaults[:-count]
        return arguments

    def _fresh(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}{number}"
        self.taken.add(name)
        return name

    def _call(self, moving: str, zeros: dict[str, str]) -> str:
        """The product with one tangent, and zeros for the others."""
        given = {
            t: f"{self.np}.reshape({t}, {self.np}.shape({p}))" if p == moving else zeros[p]
            for p, t in self.tangents.items()
        }
        a = self.product.args
        parts = [given.get(p.id, p.id) for p in [*a.posonlyargs, *a.args]]
        parts += [f"{p.id}={p.id}" for p in a.kwonlyargs]
        return f"{self.product.name}({', '.join(parts)})"

    def _zeros(self, parameters: list[str], always: bool) -> tuple[dict[str, str], list[str]]:
        """Names for the tangents of what stands still, and the lines that bind them."""
        if len(parameters) == 1 and not always:
            return {}, []
        zeros = {p: self._fresh(f"still_{p}") for p in parameters}
        return zeros, [f"{zero} = {self.np}.zeros({self.np}.shape({p}))" for p, zero in zeros.items()]

    def _direction(self, p: str, index: str) -> list[str]:
        tangent = self.tangents[p]
        dtype = f"{self.np}.result_type({p}, 1.0)"
        return [
            f"{tangent} = {self.np}.zeros({self.np}.size({p}), dtype={dtype})",
            f"{tangent}[{index}] = 1.0",
        ]

    def _hessian(self, parameters: list[str]) -> list[str]:
        np, alone = self.np, len(parameters) == 1
        kind = f"{np}.result_type({', '.join(parameters)}, 1.0)"
        blocks = {
            (p, q): self._fresh("hessian" if alone else f"hessian_{p}_{q}")
            for p in parameters
            for q in parameters
        }
        index = self._fresh("i")
        rows = {p: self._fresh(f"row_{p}") for p in parameters}
        zeros, lines = self._zeros(parameters, always=False)
        lines += [
            f"{block} = {np}.zeros(({np}.size({p}), {np}.size({q})), dtype={kind})"
            for (p, q), block in blocks.items()
        ]
        for p in parameters:
            inside = self._direction(p, index)
            if alone:
                inside.append(f"{blocks[p, p]}[{index}] = {np}.ravel({self._call(p, zeros)})")
            else:
                inside.append(f"{', '.join(rows.values())} = {self._call(p, zeros)}")
                inside += [f"{blocks[p, q]}[{index}] = {np}.ravel({rows[q]})" for q in parameters]
            lines += [f"for {index} in range({np}.size({p})):", *(INDENT + line for line in inside)]
        made = [
            [f"{np}.reshape({blocks[p, q]}, {np}.shape({p}) + {np}.shape({q}))" for q in parameters]
            for p in parameters
        ]
        if alone:
            return [*lines, f"return {made[0][0]}"]
        rows_made = [f"{INDENT}({', '.join(row)})," for row in made]
        return [*lines, "return (", *rows_made, ")"]

    def _jacobian(self, parameters: list[str]) -> list[str]:
        np, alone = self.np, len(parameters) == 1
        blocks = {p: self._fresh("jacobian" if alone else f"jacobian_{p}") for p in parameters}
        index, value, column = self._fresh("i"), self._fresh("value"), self._fresh("column")
        zeros, lines = self._zeros(parameters, always=True)
        kind = f"{np}.result_type({value}, 1.0)"
        lines.append(f"{value}, {column} = {self._call('', zeros)}")
        lines += [
            f"{block} = {np}.zeros(({np}.size({value}), {np}.size({p})), dtype={kind})"
            for p, block in blocks.items()
        ]
        for p in parameters:
            inside = self._direction(p, index)
            inside.append(f"{value}, {column} = {self._call(p, zeros)}")
            inside.append(f"{blocks[p]}[:, {index}] = {np}.ravel({column})")
            lines += [f"for {index} in range({np}.size({p})):", *(INDENT + line for line in inside)]
        made = [f"{np}.reshape({b}, {np}.shape({value}) + {np}.shape({p}))" for p, b in blocks.items()]
        return [*lines, f"return {', '.join(made)}"]
