// The packaged extension, in a real VS Code, from the lightbulb to the numbers. Started by run.sh.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { configureMachine, readLog, startCodeServer, VSCode } from "./vscode.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = process.env.E2E_ROOT;
const WORKSPACE = join(ROOT, "workspace");
const PYTHON_WITH_NUMPY = process.env.PYTHON || "python3";
const PLAIN_PYTHON = join(ROOT, "plain-python/bin");
const SHADOWED = join(ROOT, "shadowed");

// Letters beyond ASCII, one of them (𝔼) beyond what UTF-16 writes in one unit.
const LOSS = `    z = x @ w + b
    p = 1.0 / (1.0 + np.exp(-z))
    # 𝔼 der Verluste für jede Zeile, p = σ(z)
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
`;
const LOGISTIC = `import numpy as np


def loss(w, b, x, y):
    """Mean cross-entropy.

    Parameters
    ----------
    w : ndarray, shape (d,)
    b : float
    x : ndarray, shape (n, d)
    y : ndarray, shape (n,)
    """
${LOSS}`;
// Without shapes the gradient needs helper functions, which are written into the file with it. It also
// stands in the middle of its file.
const SHAPELESS = `import numpy as np


def loss(w, b, x, y):
${LOSS}

def accuracy(w, b, x, y):
    return np.mean((x @ w + b > 0) == (y > 0.5))
`;
const DYNAMIC = `import numpy as np


def dynamic(x):
    return np.sum(eval("x * x"))
`;

let codeServer;
let code;

before(async () => {
  // The VSIX is self-contained only if this Python has nothing of the server's.
  for (const name of ["lsp_ad", "pygls", "lsprotocol", "gast"]) {
    const found = spawnSync(join(PLAIN_PYTHON, "python3"), ["-c", `import ${name}`], { cwd: ROOT });
    assert.notEqual(found.status, 0, `the server's Python must not have ${name}`);
  }
  rmSync(WORKSPACE, { recursive: true, force: true });
  rmSync(SHADOWED, { force: true });
  mkdirSync(WORKSPACE);
  writeFileSync(join(WORKSPACE, "logistic.py"), LOGISTIC);
  writeFileSync(join(WORKSPACE, "shapeless.py"), SHAPELESS);
  writeFileSync(join(WORKSPACE, "dynamic.py"), DYNAMIC);
  // A module of the user's with the name of one the server imports. It must never run.
  writeFileSync(join(WORKSPACE, "gast.py"), `open(${JSON.stringify(SHADOWED)}, "w").close()\n`);
  configureMachine(ROOT, {});
  codeServer = await startCodeServer(ROOT, { workspace: WORKSPACE, binaries: PLAIN_PYTHON });
  code = await VSCode.open(codeServer.url);
});

after(async () => {
  await code?.screenshot(join(ROOT, "last.png"));
  await code?.close();
  await codeServer?.stop();
});

function isRight(file) {
  const output = execFileSync(PYTHON_WITH_NUMPY, [join(HERE, "check_gradient.py"), file], { encoding: "utf8" });
  assert.match(output, /agrees/);
}

// One undo takes away all that the action wrote.
async function undoRestores(file, text) {
  await code.press("Control+Z");
  await code.changed();
  await code.save();
  assert.equal(readFileSync(file, "utf8"), text);
}

test("a gradient from the lightbulb is right, and gone with one undo", async () => {
  const file = join(WORKSPACE, "logistic.py");
  const editor = await code.openFile("logistic.py", { line: 4, column: 6 });
  await code.press("Control+B"); // no side bar: the pictures are of the code
  await code.lightbulb.waitFor();
  const titles = await code.openMenu("Control+.");
  assert.ok(titles.includes("Generate gradient of loss"), `in the menu: ${titles.join(", ")}`);
  assert.ok(titles.includes("Generate gradient of loss with respect to w"), `in the menu: ${titles.join(", ")}`);
  await code.screenshot(join(ROOT, "menu.png"));
  await code.pick("Generate gradient of loss");
  await code.line(editor, "def loss_grad(").waitFor();
  await code.screenshot(join(ROOT, "screenshot.png"));

  await code.save();
  const text = readFileSync(file, "utf8");
  assert.ok(text.startsWith(LOGISTIC), `the user's own text was changed:\n${text}`);
  isRight(file);
  await undoRestores(file, LOGISTIC);
});

test("a gradient with helper functions is right, and gone with one undo", async () => {
  const file = join(WORKSPACE, "shapeless.py");
  await code.openFile("shapeless.py", { line: 4, column: 6 });
  await code.openMenu("Control+.");
  await code.pick("Generate gradient of loss");
  await code.changed();
  await code.save();
  const lines = readFileSync(file, "utf8").split("\n");
  const own = SHAPELESS.split("\n");
  for (const line of lines) if (line === own[0]) own.shift();
  assert.deepEqual(own, [], "the user's own lines are all there, in their order");
  isRight(file);
  await undoRestores(file, SHAPELESS);
});

test("the server runs on the first Python of the PATH", () => {
  assert.ok(readLog(ROOT).includes(`, ${join(PLAIN_PYTHON, "python3")}\n`), readLog(ROOT));
});

test("hover shows the gradient without writing it", async () => {
  const editor = await code.openFile("logistic.py", { line: 4, column: 6 });
  assert.match(await code.hoverText(editor), /def loss_grad\(w, b, x, y/);
  assert.equal(readFileSync(join(WORKSPACE, "logistic.py"), "utf8"), LOGISTIC);
});

test("a function with eval has no gradient, and hover says why", async () => {
  const editor = await code.openFile("dynamic.py", { line: 4, column: 6 });
  assert.match(await code.hoverText(editor), /eval/);
  const titles = await code.openMenu("Control+Shift+R"); // "Refactor...", which shows disabled actions too
  assert.deepEqual(titles, ["Generate gradient of dynamic"]);
  assert.equal(await code.disabledActions.count(), 1);
  await code.press("Escape");
});

test("an interpreter that cannot be used is told, and one that can be starts the server", async () => {
  const editor = await code.openFile("logistic.py", { line: 4, column: 6 });
  configureMachine(ROOT, { "lsp-ad.interpreter": "/nowhere/python3" });
  await code.notification("lsp-ad.interpreter cannot be used: /nowhere/python3 is not there").waitFor();
  await code.screenshot(join(ROOT, "toast.png"));
  configureMachine(ROOT, { "lsp-ad.interpreter": join(PLAIN_PYTHON, "python3") });
  assert.match(await code.hoverText(editor), /def loss_grad\(/);
});

test("nothing of the workspace ran in the server", () => {
  assert.equal(existsSync(SHADOWED), false);
});
