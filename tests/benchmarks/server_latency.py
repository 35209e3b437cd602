"""How fast the server answers: `python tests/benchmarks/server_latency.py`.

Prints the time from the start of the process to the answer of `initialize`, and hover and code-action
lists over a file of 1,000 lines, at random places:

- at rest: the file was opened a moment ago;
- after a pause: half a second after an edit in the function that is asked about;
- at once: right after such an edit, before the server had time to parse the file again (no goal).

Goals: start-up under 1 s, and 50 ms at the 95th percentile. Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time

LINES, STARTS = 1000, 7
# What comes before each request: an edit or not, and then a pause; and how many requests.
STATES = {"at rest": (False, 0.0, 200), "after a pause": (True, 0.5, 40), "at once": (True, 0.0, 100)}
GOALS = {"start": 1.0, "request": 0.050}
URI = "file:///work/benchmark.py"

FUNCTION = '''

def model_{n}(w, b, x, y):
    """Mean squared error of a small network.

    Parameters
    ----------
    w : ndarray, shape (p, h)
    b : ndarray, shape (h,)
    x : ndarray, shape (n, p)
    y : ndarray, shape (n, h)
    """
    z = x @ w + b
    h = np.tanh(z)  # hidden layer {n}
    for i in range(3):
        h = h * 0.9 + np.exp(-z)
    r = h - y
    if np.sum(r) > 0.0:
        r = r * 2.0
    return np.mean(r * r)
'''


class Client:
    """A client of a few lines, so that what is measured is the server."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "lsp_ad", "serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def send(self, method: str, params, **more) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict:
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if line.startswith(b"Content-Length"):
                length = int(line.split(b":")[1])
            if not line:
                raise SystemExit("the server has gone")
        return json.loads(self.process.stdout.read(length))

    def request(self, method: str, params):
        self.number += 1
        self.send(method, params, id=self.number)
        while (answer := self.receive()).get("id") != self.number:
            pass
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def initialize(self):
        action = {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
            "dataSupport": True,
            "disabledSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        }
        self.request(
            "initialize", {"processId": None, "capabilities": {"textDocument": {"codeAction": action}}}
        )
        self.send("initialized", {})

    def stop(self) -> None:
        self.request("shutdown", None)
        self.send("exit", None)
        self.process.wait(20)


def start_up() -> float:
    start = time.perf_counter()
    client = Client()
    client.initialize()
    seconds = time.perf_counter() - start
    client.stop()
    return seconds


def source() -> list[str]:
    lines = ["import numpy as np"]
    while len(lines) < LINES:
        lines += FUNCTION.format(n=len(lines)).splitlines()
    return lines[:LINES]


def latencies(method: str, lines: list[str], edited: bool, pause: float, requests: int) -> list[float]:
    random.seed(1)
    client = Client()
    client.initialize()
    document = {"uri": URI}
    client.send(
        "textDocument/didOpen",
        {"textDocument": {**document, "languageId": "python", "version": 1, "text": "\n".join(lines)}},
    )
    places = [
        n
        for n, line in enumerate(lines)
        if line.startswith("    ") and " = " in line and not line.startswith("     ") and n < LINES - 30
    ]
    seconds = []
    time.sleep(5)
    for count in range(requests):
        line = random.choice(places)
        at = {"line": line, "character": 6}
        if edited:
            start = {"line": line, "character": len(lines[line])}
            change = {"range": {"start": start, "end": start}, "text": " "}
            lines[line] += " "
            client.send(
                "textDocument/didChange",
                {"textDocument": {**document, "version": count + 2}, "contentChanges": [change]},
            )
        time.sleep(pause)
        params = {"textDocument": document}
        if method == "textDocument/hover":
            params |= {"position": at}
        else:
            params |= {"range": {"start": at, "end": at}, "context": {"diagnostics": []}}
        begun = time.perf_counter()
        result = client.request(method, params)
        seconds.append(time.perf_counter() - begun)
        if not result:
            raise SystemExit(f"{method} has no answer at line {line + 1}: {lines[line]}")
    client.stop()
    return seconds


def main() -> int:
    missed = 0
    starts = sorted(start_up() for _ in range(STARTS))
    middle = statistics.median(starts)
    missed += middle > GOALS["start"]
    print(f"start to the answer of initialize: median {middle:.3f} s, worst {starts[-1]:.3f} s  (goal < 1 s)")
    for name, method in (("hover", "textDocument/hover"), ("code actions", "textDocument/codeAction")):
        for state, how in STATES.items():
            times = sorted(latencies(method, source(), *how))
            p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
            missed += p95 > GOALS["request"] and state != "at once"
            goal = "" if state == "at once" else "  (goal: p95 < 50 ms)"
            print(
                f"{name:12s} {state:13s} {LINES} lines: p50 {p50 * 1e3:5.1f} ms, p95 {p95 * 1e3:5.1f} ms, "
                f"worst {times[-1] * 1e3:5.1f} ms{goal}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
