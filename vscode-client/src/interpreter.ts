// Finds a Python that can run the server.
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

export interface Interpreter {
  executable: string;
  version: string;
}

/** No interpreter will do; the message says which were tried and why they were not taken. */
export class NoInterpreter extends Error {}

type Command = [program: string, ...firstArguments: string[]];

const OLDEST = [3, 10] as const;
const OLDEST_NAME = OLDEST.join(".");
const SECONDS_TO_ANSWER = 10;

/**
 * The interpreter of the setting, of the Python extension or of the PATH, in that order. A setting that does
 * not work is an error and not passed over: whoever wrote it means that interpreter and no other.
 */
export async function findInterpreter(
  folder: vscode.WorkspaceFolder | undefined,
  safeDirectory: string,
  log: vscode.LogOutputChannel,
): Promise<Interpreter> {
  const wanted = vscode.workspace.getConfiguration("lsp-ad", folder).get<string>("interpreter", "").trim();
  if (wanted) {
    const answer = await ask([expandPath(wanted, folder)], safeDirectory);
    if (typeof answer === "string") throw new NoInterpreter(`The setting lsp-ad.interpreter cannot be used: ${answer}.`);
    return answer;
  }

  const tried: string[] = [];
  for await (const command of candidates(folder, log)) {
    const answer = await ask(command, safeDirectory);
    if (typeof answer !== "string") return answer;
    log.info(answer);
    tried.push(answer);
  }
  throw new NoInterpreter(
    `lsp-ad needs Python ${OLDEST_NAME} or newer and found none: ${tried.join("; ")}. ` +
      "Install one, or name one in the setting lsp-ad.interpreter, and restart the server.",
  );
}

// A generator, so that the Python extension is not woken up before it is needed, nor a PATH searched in vain.
async function* candidates(
  folder: vscode.WorkspaceFolder | undefined,
  log: vscode.LogOutputChannel,
): AsyncGenerator<Command> {
  for (const source of [environmentsExtension, pythonExtension]) {
    try {
      const executable = await withTimeout(source(folder?.uri));
      if (executable) yield [executable];
    } catch (error) {
      log.warn(`${source.name} could not be asked for its interpreter: ${error}`);
    }
  }
  yield ["python3"];
  yield ["python"];
  if (process.platform === "win32") yield ["py", "-3"];
}

// The few members of the two extensions' interfaces that are used here. Both extensions are optional, and their
// own typings would be two more packages.
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri | undefined): Promise<{ execInfo: { run: { executable: string } } } | undefined>;
}
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

async function environmentsExtension(scope: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<EnvironmentsApi>("ms-python.vscode-python-envs");
  const environment = await (await extension?.activate())?.getEnvironment(scope);
  return environment?.execInfo.run.executable;
}

async function pythonExtension(scope: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  const environments = (await extension?.activate())?.environments;
  const environment = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath(scope));
  return environment?.executable.uri?.fsPath;
}

// Another extension that hangs must not keep the server from starting.
function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const late = `no answer in ${SECONDS_TO_ANSWER} s`;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(late)), SECONDS_TO_ANSWER * 1000);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * The interpreter behind a command, or why it cannot be used. The command runs in a directory of our own: Windows
 * looks for programs in the working directory first, which must not be one that came with somebody's repository.
 */
async function ask([command, ...args]: Command, cwd: string): Promise<Interpreter | string> {
  const code = "import sys; print(sys.executable); print(*sys.version_info[:3], sep='.')";
  let output: string;
  try {
    // -X utf8: a path outside the locale's alphabet comes back unharmed.
    const run = promisify(execFile)(command, [...args, "-I", "-X", "utf8", "-c", code], {
      cwd,
      timeout: SECONDS_TO_ANSWER * 1000,
      windowsHide: true,
    });
    output = (await run).stdout;
  } catch (error) {
    const notFound = (error as NodeJS.ErrnoException).code === "ENOENT";
    return notFound ? `${command} is not there` : `${command} does not run as Python ${OLDEST_NAME} or newer`;
  }
  const [executable = "", version = ""] = output.trim().split(/\r?\n/);
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) return `${command} is Python ${version}`;
  return { executable: executable || command, version };
}

function expandPath(setting: string, folder: vscode.WorkspaceFolder | undefined): string {
  const root = folder?.uri.fsPath ?? "";
  const expanded = setting.replace(/^~(?=$|[\\/])/, homedir()).replaceAll("${workspaceFolder}", root);
  // A bare name is looked up on the PATH; anything else with a relative path is meant from the folder.
  return /[\\/]/.test(expanded) ? path.resolve(root, expanded) : expanded;
}
