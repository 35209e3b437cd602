// Puts the server and the packages it imports into bundled/libs, for the VSIX to carry.
//
//     [PYTHON=python3] npm run bundle-server
//
// PYTHON is any Python with pip. It only fetches wheels: nothing here depends on its version or platform,
// because one VSIX has to run on all of them.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const client = dirname(fileURLToPath(import.meta.url));
const project = dirname(client);
const bundled = join(client, "bundled");
const libs = join(bundled, "libs");
const python = process.env.PYTHON || "python3";

// The server reads NumPy code, and never runs it: only lsp_ad.runtime and generated code need NumPy.
const NOT_FOR_THE_SERVER = new Set(["numpy"]);

// PEP 503: "typing_extensions" and "typing-extensions" are the same package.
const packageName = (requirement) =>
  requirement.match(/^[A-Za-z0-9._-]+/)[0].toLowerCase().replace(/[-_.]+/g, "-");

function serverRequirements() {
  const text = readFileSync(join(project, "pyproject.toml"), "utf8");
  const list = text.match(/^dependencies = \[([^\]]*)\]/m);
  if (!list) throw new Error("no list of dependencies in pyproject.toml");
  const requirements = [...list[1].matchAll(/"([^"]+)"/g)].map((match) => match[1]);
  return requirements.filter((requirement) => !NOT_FOR_THE_SERVER.has(packageName(requirement)));
}

function install(requirements) {
  rmSync(libs, { recursive: true, force: true });
  const pip = ["-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"];
  // Pure Python wheels that accept the oldest Python we support.
  const wheels = ["--only-binary=:all:", "--implementation=py", "--abi=none", "--platform=any", "--python-version=3.10"];
  execFileSync(python, [...pip, ...wheels, "--target", libs, ...requirements], { stdio: "inherit" });
  rmSync(join(libs, "bin"), { recursive: true, force: true }); // console scripts, with this machine's paths in them
}

// pip leaves out what the Python that runs it does not need, such as exceptiongroup on 3.11 and newer.
// The bundle has to have it for those that do.
function leftOut() {
  const infos = readdirSync(libs).filter((name) => name.endsWith(".dist-info"));
  const there = new Set(infos.map((name) => packageName(name.replace(/-.*/, ""))));
  const needs = infos.flatMap((info) => {
    const [headers] = readFileSync(join(libs, info, "METADATA"), "utf8").split(/\r?\n\r?\n/);
    return [...headers.matchAll(/^Requires-Dist: *([^;\r\n]+)(;.*)?$/gm)]
      .filter(([, , marker = ""]) => !/\bextra\b/.test(marker))
      .map(([, requirement]) => requirement.trim());
  });
  return needs.filter((requirement) => !there.has(packageName(requirement)));
}

const requirements = serverRequirements();
install(requirements);
for (let missing = leftOut(); missing.length > 0; missing = leftOut()) {
  requirements.push(...missing);
  install(requirements);
}

cpSync(join(project, "lsp_ad"), join(libs, "lsp_ad"), {
  recursive: true,
  filter: (path) => basename(path) !== "__pycache__",
});
mkdirSync(bundled, { recursive: true });
cpSync(join(project, "LICENSE"), join(bundled, "LICENSE"));
