"""The shape of the code: which package may import which, who may import NumPy, how long a file may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lsp_ad

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lsp_ad"
FILES = sorted(p for p in PACKAGE.rglob("*.py"))

# From the ground up. A part may import itself and what stands in lines above its own; parts of one line
# do not know one another.
LAYERS = [
    ["markers", "problems"],
    ["source"],
    ["sources"],
    ["semantics"],
    ["rules", "simplify"],
    ["differentiate"],
    ["staging"],
    ["checks"],
    ["files", "live"],
    ["api"],
    ["lsp_ad"],
    ["server"],
    ["cli"],
    ["__main__"],
]
# Functions for generated code: they stand apart, and use nothing of the package.
APART = ["runtime"]
HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}
COMPILER = ("problems", "source", "semantics", "rules", "simplify", "differentiate", "checks")
LONGEST = 400


def part_of(path: Path) -> str:
    """`rules` for lsp_ad/rules/zero.py, `cli` for lsp_ad/cli.py, `lsp_ad` for lsp_ad/__init__.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "lsp_ad" if parts == ("__init__",) else parts[0]


def imports(path: Path) -> set[str]:
    """The dotted names of all modules that a file imports, wherever in the file it does."""
    found = set()
    package = ["lsp_ad", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from lsp_ad import problems` imports a part, `from lsp_ad import __version__` a name
            inner = {f"{module}.{a.name}" for a in node.names}
            found |= {i for i in inner if is_module(i)}
            if not all(is_module(i) for i in inner):
                found.add(module)
    return found


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def parts_imported(path: Path) -> set[str]:
    """The parts of the package that a file imports."""
    dotted = [name.split(".") for name in imports(path) if name.split(".")[0] == "lsp_ad"]
    return {names[1] if len(names) > 1 and is_module(".".join(names[:2])) else "lsp_ad" for names in dotted}


each_file = pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(ROOT)) for p in FILES])


@each_file
def test_every_file_has_its_place(path):
    assert part_of(path) in [*HEIGHT, *APART]


@each_file
def test_imports_run_one_way(path):
    part = part_of(path)
    for other in parts_imported(path) - {part}:
        assert part not in APART and other not in APART, f"{part} and {other} stand apart"
        assert HEIGHT[other] < HEIGHT[part], f"{part} must not import {other}"


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if part_of(p) in COMPILER],
    ids=[str(p.relative_to(ROOT)) for p in FILES if part_of(p) in COMPILER],
)
def test_the_compiler_knows_neither_protocol_nor_numpy(path):
    """It works on text: nothing of the user's, and nothing numeric, runs in it."""
    roots = {name.split(".")[0] for name in imports(path)}
    assert not roots & {"pygls", "lsprotocol", "numpy", "asyncio", "socket", "subprocess"}


def test_only_what_runs_with_the_program_imports_numpy():
    """The functions for generated code, and what stages."""
    importing = {part_of(p) for p in FILES if "numpy" in {n.split(".")[0] for n in imports(p)}}
    assert importing == {"runtime", "staging"}


def test_only_the_server_speaks_the_protocol():
    speaking = {part_of(p) for p in FILES if {n.split(".")[0] for n in imports(p)} & {"pygls", "lsprotocol"}}
    assert speaking == {"server"}


def test_importing_the_package_imports_neither_numpy_nor_the_server():
    """`import lsp_ad` and the compiler stay light: the editor waits for them."""
    code = "import sys, lsp_ad, lsp_ad.differentiate; print('numpy' in sys.modules, 'pygls' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_no_imports_in_a_circle():
    """Module by module: whatever a module imports at its top does not import it in turn."""
    graph = {module_name(p): {i for i in top_imports(p) if i.startswith("lsp_ad")} for p in FILES}

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path, name])
        if name not in done:
            for other in graph.get(name, ()):
                visit(other, (*path, name))
            done.add(name)

    done: set[str] = set()
    for name in graph:
        visit(name, ())


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def top_imports(path: Path) -> set[str]:
    """The modules that are imported when a module is, less the packages it stands in."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{a.name}" for a in node.names}
            found |= {i for i in inner if is_module(i)} or {node.module}
    return {i for i in found if not module_name(path).startswith(i + ".")}


@each_file
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_top_level_of_the_repository():
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    visible = sorted({line.split("/")[0] for line in files.splitlines() if not line.startswith(".")})
    assert visible == [
        "LICENSE",
        "README.md",
        "examples",
        "lsp_ad",
        "pyproject.toml",
        "tests",
        "vscode-client",
    ]


def test_the_public_names():
    assert lsp_ad.__all__ == [
        "ConversionError",
        "Diagnostic",
        "DifferentiationError",
        "StagingError",
        "checkpoint",
        "custom_jvp",
        "custom_vjp",
        "do_not_convert",
        "element_type",
        "grad",
        "hessian",
        "hvp",
        "insert_grad_of",
        "jacobian",
        "jvp",
        "loop_options",
        "must_stage",
        "non_differentiable",
        "opaque",
        "split",
        "staged",
        "stages",
        "staging_report",
        "stop_gradient",
        "to_code",
        "value_and_grad",
        "vjp",
    ]
