"""The command `lsp-ad`: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys

import numpy as np
import pytest

import lsp_ad
from lsp_ad.cli import main

LOSS = """\
import numpy as np


def loss(w, x, y):
    r = w * x - y  # the residual
    return np.sum(r * r)


print("side effect")
"""


@pytest.fixture
def model(tmp_path, monkeypatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.py"
    path.write_bytes(LOSS.encode())
    return path


@pytest.fixture
def run(capsys):
    """Run the command: (exit status, stdout, stderr)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def check_gradient(text: str, wrt=("w", "x", "y")) -> None:
    namespace: dict = {"np": np, "print": lambda *_: None}
    exec(text, namespace)
    given = {"w": 0.7, "x": 1.3, "y": 0.2}
    got = namespace["loss_grad"](**given)
    for name, one in zip(wrt, got if len(wrt) > 1 else [got], strict=True):
        up, down = ({**given, name: given[name] + step} for step in (1e-6, -1e-6))
        assert one == pytest.approx((namespace["loss"](**up) - namespace["loss"](**down)) / 2e-6, rel=1e-6)


# --- grad


def test_grad_prints_code_that_can_be_pasted(model, run):
    status, out, err = run("grad", "model.py::loss")
    assert (status, err) == (0, "")
    assert "def loss_grad(w, x, y" in out and "import lsp_ad" not in out and "from lsp_ad" not in out
    check_gradient(LOSS + "\n\n" + out)
    assert model.read_bytes() == LOSS.encode(), "printing changes nothing"


@pytest.mark.parametrize("wrt", ["w", "0", "-3", " w "])
def test_grad_with_respect_to_one_parameter(model, run, wrt):
    status, out, _ = run("grad", "model.py::loss", f"--wrt={wrt}")
    assert status == 0
    check_gradient(LOSS + "\n\n" + out, ("w",))


def test_grad_keeps_the_order_of_wrt(model, run):
    _, out, _ = run("grad", "model.py::loss", "--wrt", "y,w")
    check_gradient(LOSS + "\n\n" + out, ("y", "w"))


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
def test_grad_has_modes(model, run, mode):
    _, out, _ = run("grad", "model.py::loss", "--mode", mode)
    assert f"def loss_{mode}(" in out


@pytest.mark.row("T1")
def test_jvp_writes_forward_mode(model, run):
    assert (
        run("jvp", "model.py::loss", "--wrt", "w")[1]
        == run("grad", "model.py::loss", "--mode", "jvp", "--wrt", "w")[1]
    )
    assert run("jvp", "model.py::loss", "--write")[0] == 0
    assert "def loss_jvp(w, x, y, dw, dx, dy):" in model.read_text()


def test_grad_imports_helpers_if_told_to(model, run):
    _, out, _ = run("grad", "model.py::loss", "--helpers", "import")
    assert "from lsp_ad.runtime import" in out
    check_gradient(LOSS + "\n\n" + out)


def test_write_inserts_below_the_function(model, run):
    status, out, err = run("grad", "model.py::loss", "--write")
    assert (status, out) == (0, "")
    assert "loss_grad" in err
    after = model.read_text()
    assert all(line in after.splitlines() for line in LOSS.splitlines())
    assert after.index("def loss(") < after.index("def loss_grad(") < after.index('print("side effect")')
    check_gradient(after)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("", "utf-8-sig"),
        ("# -*- coding: latin-1 -*-\n", "latin-1"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_write_keeps_encoding_line_ends_and_mode(model, run, head, encoding, newline):
    before = (head + LOSS.replace("residual", "résidu")).replace("\n", newline)
    model.write_bytes(before.encode(encoding))
    model.chmod(0o755)
    assert run("grad", "model.py::loss", "--write")[0] == 0
    data = model.read_bytes()
    after = data.decode(encoding)
    assert data.startswith(b"\xef\xbb\xbf") == (encoding == "utf-8-sig")
    assert after.startswith(head.replace("\n", newline)) and "résidu" in after
    assert re.sub("\r\n", "", after).count("\n") == (0 if newline == "\r\n" else after.count("\n"))
    assert stat.S_IMODE(model.stat().st_mode) == 0o755
    check_gradient(after.replace("\r\n", "\n"))


def test_write_follows_links_and_leaves_nothing_behind(model, run, tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(model)
    assert run("grad", "link.py::loss", "--write")[0] == 0
    assert link.is_symlink() and "loss_grad" in model.read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "model.py"]


def test_write_does_not_write_twice(model, run):
    run("grad", "model.py::loss", "--write")
    once = model.read_bytes()
    status, _, err = run("grad", "model.py::loss", "--write")
    assert status == 1 and "loss_grad" in err
    assert model.read_bytes() == once


@pytest.mark.row("T30")
def test_a_refusal_goes_to_stderr_with_its_place_and_a_way_out(model, run):
    model.write_text("def f(x):\n    return x * eval('x')\n")
    status, out, err = run("grad", "model.py::f")
    assert (status, out) == (1, "")
    assert re.match(r"model\.py:2:16: error AD105 .+ Write the expression out\.\n", err)


def test_the_file_is_never_run(model, run):
    assert "side effect" not in "".join(map(str, run("grad", "model.py::loss")))
    assert "side effect" not in "".join(map(str, run("check", ".")))


BAD = {
    "no such file": (["grad", "nowhere.py::f"], 2, "no such file: nowhere.py"),
    "a directory": (["grad", ".::f"], 2, "is a directory"),
    "no ::": (["grad", "model.py"], 2, "expected FILE.py::FUNCTION"),
    "no function name": (["grad", "model.py::"], 2, "expected FILE.py::FUNCTION"),
    "no such function": (["grad", "model.py::los"], 2, "has no function los; did you mean loss?"),
    "not a function": (["grad", "model.py::np"], 2, "np is not a function"),
    "unknown parameter": (["grad", "model.py::loss", "--wrt", "z"], 2, "z"),
    "index out of range": (["grad", "model.py::loss", "--wrt", "7"], 2, "7"),
    "empty wrt": (["grad", "model.py::loss", "--wrt", "w,"], 2, "--wrt takes names"),
    "a syntax error": (["grad", "broken.py::f"], 1, "broken.py:1:"),
    "not text": (["grad", "binary.py::f"], 1, "line 2 has a byte that is not UTF-8"),
    "unknown encoding": (["grad", "cookie.py::f"], 1, "unknown encoding"),
    "nested too deeply": (["grad", "deep.py::f"], 1, "deep.py:1:1: "),
    "check nothing": (["check", "nowhere"], 2, "no such file or directory: nowhere"),
    "explain nothing": (["explain", "AD999"], 2, "no such code: AD999"),
    "stdio and tcp": (["serve", "--stdio", "--tcp"], 2, "exclude each other"),
}


@pytest.mark.parametrize(("arguments", "expected", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_clear_line(model, run, tmp_path, arguments, expected, message):
    (tmp_path / "broken.py").write_text("def f(x:\n    return x\n")
    (tmp_path / "binary.py").write_bytes(b"def f(x):\n    return '\xff'\n")
    (tmp_path / "cookie.py").write_bytes(b"# coding: klingon\ndef f(x):\n    return x\n")
    (tmp_path / "deep.py").write_text(f"def f(x):\n    return x{' + x' * 5000}\n")
    status, out, err = run(*arguments)
    assert status == expected and out == ""
    assert err.startswith("lsp-ad: ") and err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["grad"], ["grad", "a.py::f", "--mode", "x"], ["check"]]
)
def test_wrong_usage_is_status_2(run, arguments):
    status, out, err = run(*arguments)
    assert status == 2 and out == "" and "usage: lsp-ad" in err


def test_a_file_that_cannot_be_written_stays_as_it_is(model, run, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    status, _, err = run("grad", "model.py::loss", "--write")
    assert (status, err) == (2, "lsp-ad: cannot write model.py: Permission denied\n")
    assert [p.name for p in tmp_path.iterdir()] == ["model.py"] and model.read_text() == LOSS


# --- check


def test_check_is_quiet_where_all_is_well(model, run):
    assert run("check", "model.py") == (0, "", "")


def test_check_prints_findings_of_directories(model, run, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "bad.py").write_text(
        "def f(x):\n    return eval('x')\n\n\ndef f_grad(x):\n    return 0\n"
    )
    (tmp_path / "broken.py").write_text("x = (\n")
    (tmp_path / "binary.py").write_bytes(b"\xff\n")
    (tmp_path / "staged.py").write_text(
        "import jax\n\n@jax.jit\ndef f(x, training: bool):\n    if training:\n        x += 1\n    return x\n"
    )
    for hidden in (".git", "venv", "__pycache__"):
        (tmp_path / hidden).mkdir()
        (tmp_path / hidden / "broken.py").write_text("x = (\n")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "notes.txt").write_text("x = (\n")
    status, out, err = run("check", ".")
    assert (status, err) == (1, "")
    assert [re.sub(r"^\./|(?<=:\d: ).*|(?<=:\d\d: ).*", "", line).strip() for line in out.splitlines()] == [
        "binary.py:1:1:",
        "broken.py:1:5:",
        "staged.py:5:8:",
        "sub/bad.py:2:12:",
    ]
    assert "error SRC001" in out and "information STG102" in out and "error AD105" in out


def test_check_survives_a_deep_file(model, run, tmp_path):
    (tmp_path / "deep.py").write_text(f"x = 1{' + 1' * 5000}\n")
    status, out, err = run("check", ".")
    assert (status, err) == (1, "") and out.startswith("./deep.py:1:1: error SRC001")


def test_output_that_the_terminal_cannot_show_is_told(model):
    model.write_text(LOSS.replace("r = ", "\u03b2 = ").replace("r * r", "\u03b2 * \u03b2"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    with command("grad", "model.py::loss", env=environment) as process:
        assert process.wait(20) == 1
        assert process.stderr.read() == "lsp-ad: stdout cannot show this in ascii; set PYTHONUTF8=1\n"


def test_check_takes_a_file_once(model, run, tmp_path):
    model.write_text("x = (\n")
    assert len(run("check", "model.py", ".", "model.py")[1].splitlines()) == 1


def test_check_leaves_hints_out_and_fails_for_what_is_wrong_only(model, run):
    model.write_text(
        "import jax\n\n@jax.jit\ndef f(x, flag: bool = False):\n    for i in range(3):\n        x = x + i\n"
        "    return x if flag else -x\n"
    )
    status, out, _ = run("check", "model.py")
    assert status == 0 and "STG102" in out and "STG104" not in out
    model.write_text(model.read_text() + "\n\n@jax.jit\ndef g(x):\n    return x if x > 0 else -x\n")
    status, out, _ = run("check", "model.py")
    assert status == 1 and "error STG201" in out


def test_staging_report(model, run):
    model.write_text(
        "import lsp_ad\n\n@lsp_ad.staged\ndef f(x, n: int):\n    for i in range(3):\n        if x > i:\n"
        "            x = x + n\n    return x if n else -x\n"
    )
    status, out, _ = run("check", "--staging-report", "model.py")
    assert status == 0 and out.splitlines() == [
        "model.py:5:5: for: unrolled 3 times under lsp_ad.staged",
        "model.py:6:9: if: staged under lsp_ad.staged",
        "model.py:8:12: conditional expression: decided in Python under lsp_ad.staged",
    ]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="settings are read by Python 3.11 and later")
def test_staging_report_of_functions_that_the_settings_name(model, run, tmp_path):
    model.write_text("def f(x):\n    return x if x.sum() > 0 else -x\n")
    assert run("check", "--staging-report", "model.py")[1] == ""
    (tmp_path / "lsp-ad.toml").write_text('staged = ["model.f"]\n')
    out = run("check", "--staging-report", "model.py")[1]
    assert out == "model.py:2:12: conditional expression: staged under lsp_ad.staged\n"


# --- explain, serve, version


def test_explain_a_code_or_a_name(run):
    assert run("explain", "ad301") == run("explain", "in-place-write")
    status, out, _ = run("explain", "AD301")
    assert status == 0
    for part in ("AD301 in-place-write (error)", "Way out:", "model.x = x"):
        assert part in out


def test_explain_lists_all(run):
    status, out, _ = run("explain")
    assert status == 0 and "AD301" in out and "STG101" in out and "SRC001" in out


def test_explain_suggests(run):
    assert "did you mean in-place-write" in run("explain", "in-place")[2]


def test_version(run):
    assert run("--version") == (0, f"lsp-ad {lsp_ad.__version__}\n", "")


def command(*arguments: str, **options) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-m", "lsp_ad", *arguments], **{**pipes, **options})


def test_a_reader_that_goes_away_is_no_error():
    with command("explain") as process:
        process.stdout.close()
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def test_control_c_is_quiet():
    with command("serve") as process:
        # The server has answered, so it is up.
        body = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
        process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}")
        process.stdin.flush()
        assert process.stdout.readline().startswith("Content-Length")
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        process.wait(20)
        assert "Traceback" not in process.stderr.read()


def test_a_port_that_is_taken_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with command("serve", "--tcp", "--port", str(port)) as process:
            assert process.wait(20) == 2
            error = process.stderr.read()
    assert error.startswith(f"lsp-ad: cannot serve on 127.0.0.1:{port}") and error.count("\n") == 1


def test_the_command_line_never_loads_numpy(model):
    code = f"""
import sys
from lsp_ad.cli import main
assert main(["grad", {str(model)!r} + "::loss"]) == main(["check", {str(model)!r}]) == 0
assert not {{"numpy", "pygls"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
