"""The command `lsp-ad`: generate, check, explain, serve.

Exit status: 0 done, 1 refused or something wrong found, 2 wrong usage. What was asked for goes to stdout,
everything else to stderr, and never as a traceback.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsp_ad import __version__

if TYPE_CHECKING:
    from lsp_ad.files import File, Workspace
    from lsp_ad.problems import Problem
    from lsp_ad.semantics.names import Program

DONE, REFUSED, USAGE = 0, 1, 2


class Failure(Exception):
    """The command cannot be carried out: one line for stderr, and the exit status."""

    def __init__(self, message: str, status: int = USAGE):
        super().__init__(message)
        self.status = status


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status. Wrong options end it with SystemExit(2), as argparse does."""
    arguments = _parser().parse_args(argv)
    try:
        status = arguments.run(arguments)
        if not sys.stdout.closed:  # the server closes it when the client says `exit`
            sys.stdout.flush()
        return status
    except Failure as failure:
        print(f"lsp-ad: {failure}", file=sys.stderr)
        return failure.status
    except RecursionError:
        print("lsp-ad: an expression is nested too deeply", file=sys.stderr)
        return REFUSED
    except UnicodeEncodeError as error:
        print(f"lsp-ad: stdout cannot show this in {error.encoding}; set PYTHONUTF8=1", file=sys.stderr)
        return REFUSED
    except BrokenPipeError:
        # The reader went away (`| head`). Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lsp-ad", description="Readable NumPy gradients, written beside the function."
    )
    parser.add_argument("--version", action="version", version=f"lsp-ad {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    grad = commands.add_parser("grad", help="print or write the gradient of a function")
    grad.add_argument("--mode", choices=("grad", "value_and_grad", "vjp", "jvp", "split"), default="grad")
    others = []
    for mode, what in (
        ("jvp", "the forward-mode derivative"),
        ("split", "the gradient as a forward and a backward function"),
        ("hvp", "the Hessian-vector product"),
        ("hessian", "the Hessian"),
        ("jacobian", "the Jacobian"),
    ):
        other = commands.add_parser(mode, help=f"print or write {what} of a function")
        other.set_defaults(mode=mode)
        others.append(other)
    for derivative in (grad, *others):
        derivative.add_argument("target", metavar="FILE.py::FUNCTION")
        derivative.add_argument(
            "--wrt", metavar="A,B", help="parameters, by name or index (default: every float one)"
        )
        derivative.add_argument(
            "--write", action="store_true", help="insert the code below the function, in the file"
        )
        derivative.add_argument(
            "--helpers", choices=("inline", "import"), default="inline",
            help="write helper functions into the code, or import them from lsp_ad.runtime",
        )  # fmt: skip
        derivative.add_argument(
            "--unoptimized", action="store_true", help="the code as it is before simplification"
        )
        derivative.add_argument(
            "--stage", metavar="NAME", help="print the function after a pass on the way, or after `all`"
        )
        derivative.set_defaults(run=_grad, seed=None)
    grad.add_argument(
        "--seed", choices=("required", "one", "ones"),
        help="what the seed is where it is not given (default: one; required by vjp)",
    )  # fmt: skip

    check = commands.add_parser("check", help="print what is wrong in files")
    check.add_argument("paths", metavar="PATH", nargs="+", help="a file, or a directory with all below it")
    check.add_argument(
        "--staging-report", action="store_true",
        help="print what staging will decide about each construct of staged functions",
    )  # fmt: skip
    check.set_defaults(run=_check)

    serve = commands.add_parser("serve", help="run the language server")
    serve.add_argument("--stdio", action="store_true", help="talk on stdin and stdout (the default)")
    serve.add_argument("--tcp", action="store_true", help="serve one client on a TCP port, for debugging")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=2087)
    serve.set_defaults(run=_serve)

    explain = commands.add_parser("explain", help="explain a problem code, or list them all")
    explain.add_argument("code", metavar="CODE", nargs="?", help="AD301, or its name in-place-write")
    explain.set_defaults(run=_explain)
    return parser


def _grad(arguments: argparse.Namespace) -> int:
    from lsp_ad import files
    from lsp_ad.differentiate import Options, Stages, differentiate, insertion
    from lsp_ad.semantics.classes import method_named
    from lsp_ad.semantics.linking import link
    from lsp_ad.source.edits import apply

    path, separator, name = arguments.target.rpartition("::")
    if not separator or not path or not name:
        raise Failure(f"expected FILE.py::FUNCTION, not {arguments.target!r}")
    file = _read(path)
    program = _program(file)
    wrt = _wrt(arguments.wrt)
    if name not in program.functions and method_named(program, name) is None:
        raise Failure(_no_function(path, name, program))
    linked = link(program, files.Workspace([os.getcwd()]))
    recorded = Stages() if arguments.stage else None
    options = Options(arguments.seed, not arguments.unoptimized, recorded)
    derivative, problems = differentiate(linked.program, name, wrt, arguments.mode, options)
    if derivative is None:
        for problem in problems:
            if problem.code == "AD501":
                raise Failure(f"{path}::{name}: {problem}")
        for problem in problems:
            print(_line(path, problem), file=sys.stderr)
        return REFUSED
    if recorded is not None:
        print(_stage(arguments.stage, {**recorded.texts, "final": derivative.text}), end="")
        return DONE
    if arguments.write and derivative.name in program.bound:
        raise Failure(f"{path}: {derivative.name} exists already; delete or rename it first", REFUSED)
    edits = insertion(program, derivative, arguments.helpers)
    if not arguments.write:
        # In blocks, as the insertion would separate them in the file.
        blocks = [edit.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") for edit in sorted(edits)]
        print("\n\n\n".join(block for block in blocks if block))
        return DONE
    try:
        files.write(file, apply(file.text, edits))
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror or error}") from error
    except files.Unreadable as error:
        raise Failure(f"{path}: {error}", REFUSED) from error
    print(f"{path}: {derivative.name} written", file=sys.stderr)
    return DONE


def _stage(name: str, texts: dict[str, str]) -> str:
    if name == "all":
        return "\n\n".join(f"# {stage}\n\n{text}" for stage, text in texts.items())
    if name not in texts:
        raise Failure(f"no such stage: {name}; there are {', '.join(texts)}, and all")
    return texts[name]


def _check(arguments: argparse.Namespace) -> int:
    from lsp_ad import files
    from lsp_ad.problems import Severity

    wrong = False
    for path in arguments.paths:
        if not os.path.exists(path):
            raise Failure(f"no such file or directory: {path}")
    workspace = files.Workspace([os.getcwd()])
    if arguments.staging_report:
        for path in files.python_files(arguments.paths):
            _staging_report(path, workspace)
        return DONE
    for path in files.python_files(arguments.paths):
        for problem in _problems(path, workspace):
            if problem.severity < Severity.HINT:
                print(_line(path, problem))
            wrong = wrong or problem.severity <= Severity.WARNING
    return REFUSED if wrong else DONE


def _staging_report(path: str, workspace: Workspace) -> None:
    from lsp_ad.checks import traces_of
    from lsp_ad.checks.prediction import foretold
    from lsp_ad.semantics.linking import link

    program = link(_program(_read(path)), workspace).program
    for found in foretold(traces_of(program)):
        node = found.prediction.node
        print(f"{path}:{node.lineno}:{node.col_offset + 1}: {found}")


def _problems(path: str, workspace: Workspace) -> list[Problem]:
    from lsp_ad import checks, files
    from lsp_ad.checks.interest import refusals
    from lsp_ad.problems import Span, problem
    from lsp_ad.semantics.linking import link
    from lsp_ad.semantics.names import Program
    from lsp_ad.source.document import Document
    from lsp_ad.source.parse import parse

    try:
        file = files.read(path)
    except files.Unreadable as error:
        return [problem("SRC001", f"The file is {error}.", Span(1, 0, 1, 1))]
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror or error}") from error
    try:
        parsed = parse(Document(file.text, path))
        if parsed.problems:
            return list(parsed.problems)
        program = link(Program(parsed), workspace).program
        found = dict.fromkeys([*refusals(program), *checks.check(program)])
    except RecursionError:
        return [problem("SRC001", "An expression of the file is nested too deeply.", Span(1, 0, 1, 1))]
    return sorted(found, key=lambda p: (p.span, p.code))


def _serve(arguments: argparse.Namespace) -> int:
    import gc

    if arguments.tcp and arguments.stdio:
        raise Failure("--stdio and --tcp exclude each other")
    # Loading the types of the protocol makes a great many objects that all stay: a quarter of the time
    # to the first answer went into looking among them for garbage.
    gc.disable()
    from lsp_ad.server.server import serve

    gc.freeze()
    gc.enable()
    try:
        serve(arguments.tcp, arguments.host, arguments.port)
    except (OSError, OverflowError) as error:
        if not arguments.tcp:
            raise
        raise Failure(f"cannot serve on {arguments.host}:{arguments.port}: {error}") from error
    return DONE


def _explain(arguments: argparse.Namespace) -> int:
    from lsp_ad.problems import CATALOGUE, entry

    if arguments.code is None:
        width = max(len(known.name) for known in CATALOGUE.values())
        for known in CATALOGUE.values():
            print(f"{known.code:7s} {known.name:{width}s}  {known.summary}")
        return DONE
    try:
        known = entry(arguments.code)
    except KeyError:
        names = [n for e in CATALOGUE.values() for n in (e.code, e.name)]
        close = difflib.get_close_matches(arguments.code, names, cutoff=0.5)
        hint = f"; did you mean {' or '.join(close)}?" if close else "; `lsp-ad explain` lists them all"
        raise Failure(f"no such code: {arguments.code}{hint}") from None
    example = "".join(f"    {line}\n" for line in known.example.splitlines())
    parts = [f"{known.code} {known.name} ({known.severity})", known.summary, known.explanation]
    parts += [f"Way out: {known.way_out}", f"Example:\n\n{example}"]
    print("\n\n".join(part.rstrip() for part in parts if part))
    return DONE


def _read(path: str) -> File:
    from lsp_ad import files

    try:
        return files.read(path)
    except FileNotFoundError:
        raise Failure(f"no such file: {path}") from None
    except IsADirectoryError:
        raise Failure(f"{path} is a directory, not a file") from None
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror or error}") from error
    except files.Unreadable as error:
        raise Failure(f"{path}: {error}", REFUSED) from error


def _program(file: File) -> Program:
    from lsp_ad.semantics.names import Program
    from lsp_ad.source.document import Document
    from lsp_ad.source.parse import parse

    parsed = parse(Document(file.text, file.path))
    if parsed.problems:
        found = parsed.problems[0]
        raise Failure(f"{file.path}:{found.span.line}:{found.span.column + 1}: {found.message}", REFUSED)
    return Program(parsed)


def _wrt(given: str | None) -> list[str | int] | None:
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",")]
    if not all(parts):
        raise Failure(f"--wrt takes names or indices between commas, not {given!r}")
    return [int(p) if p.lstrip("-").isdigit() else p for p in parts]


def _no_function(path: str, name: str, program: Program) -> str:
    if name in program.bound:
        return f"{path}: {name} is not a function that is defined once, with `def`, at the top level"
    close = difflib.get_close_matches(name, program.functions)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"{path} has no function {name}{hint}"


def _line(path: str, found: Problem) -> str:
    span = found.span
    return f"{path}:{span.line}:{span.column + 1}: {found.severity.name.lower()} {found.code} {found}"
