// The VS Code client: starts the bundled server, restarts it, shows how it is. All else is the server's.
import * as vscode from "vscode";
import {
  CloseAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  State,
} from "vscode-languageclient/node";
import { findInterpreter, NoInterpreter } from "./interpreter";

const ID = "lsp-ad"; // of the client, and so of its setting lsp-ad.trace.server
const DOCUMENTS = [
  { scheme: "file", language: "python" },
  { scheme: "untitled", language: "python" },
];

let client: LanguageClient | undefined;
let lastChange: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("lsp-ad", { log: true });
  const status = vscode.languages.createLanguageStatusItem(ID, DOCUMENTS);
  status.name = "lsp-ad";
  showState(status, true);
  status.command = { command: "lsp-ad.showLog", title: "Show log" };

  // One after the other: two restarts at once would leave a second server behind.
  const restart = () => (lastChange = lastChange.then(() => startServer(context, log, status)));

  context.subscriptions.push(
    log,
    status,
    vscode.commands.registerCommand("lsp-ad.restart", restart),
    vscode.commands.registerCommand("lsp-ad.showLog", () => log.show()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      // Not at once: the client is about to send the change to the server that still runs.
      if (change.affectsConfiguration("lsp-ad.interpreter")) setTimeout(restart);
    }),
    // From now on the workspace's own lsp-ad.interpreter counts.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restart()),
  );
  void restart();
}

export async function deactivate(): Promise<void> {
  await lastChange;
  await stopServer();
}

/** (Re)starts the server. Never rejects: what goes wrong is told to the user. */
async function startServer(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  status: vscode.LanguageStatusItem,
): Promise<void> {
  await stopServer().catch((error) => log.warn(`The server did not stop cleanly: ${error}`));
  status.busy = true;
  try {
    const folder = vscode.workspace.workspaceFolders?.[0];
    const { executable, version } = await findInterpreter(folder, context.extensionPath, log);
    log.info(`The server runs on Python ${version}, ${executable}`);
    const starting = newClient(serverOptions(context, executable), clientOptions(log));
    // Not only here: after a crash the client starts the server again by itself, a few times at most.
    starting.onDidChangeState(({ newState }) => showState(status, newState !== State.Stopped, `Python ${version}`));
    await starting.start();
    client = starting;
  } catch (error) {
    showState(status, false);
    if (error instanceof NoInterpreter) {
      log.error(error.message);
      void tellWayOut(error); // not awaited: a restart must not wait until somebody closes the message
    } else {
      log.error(String(error)); // the client has shown a message already, with a button that opens the log
    }
  } finally {
    status.busy = false;
  }
}

async function stopServer(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

function showState(status: vscode.LanguageStatusItem, runs: boolean, detail?: string): void {
  status.severity = runs ? vscode.LanguageStatusSeverity.Information : vscode.LanguageStatusSeverity.Error;
  status.text = runs ? "lsp-ad" : "lsp-ad does not run";
  status.detail = runs ? detail : undefined;
}

async function tellWayOut(error: NoInterpreter): Promise<void> {
  const openSetting = "Open setting";
  const showLog = "Show log";
  const choice = await vscode.window.showErrorMessage(error.message, openSetting, showLog);
  if (choice === openSetting) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "lsp-ad.interpreter");
  } else if (choice === showLog) {
    await vscode.commands.executeCommand("lsp-ad.showLog");
  }
}

function newClient(server: ServerOptions, options: LanguageClientOptions): LanguageClient {
  let hasStarted = false;
  const errorHandler: ErrorHandler = {
    error: (...happened) => defaults.error(...happened),
    // A server that ends before it has ever run will do so again. The default, to go on trying, would also go on
    // behind the back of a restart by hand, and leave two servers.
    closed: () => (hasStarted ? defaults.closed() : { action: CloseAction.DoNotRestart, handled: true }),
  };
  const made = new LanguageClient(ID, "lsp-ad", server, { ...options, errorHandler });
  const defaults = made.createDefaultErrorHandler();
  made.onDidChangeState(({ newState }) => (hasStarted ||= newState === State.Running));
  return made;
}

function serverOptions(context: vscode.ExtensionContext, python: string): ServerOptions {
  return {
    command: python,
    // -I: see run_server.py. -X utf8: what the server prints to its log is shown here as UTF-8.
    args: ["-I", "-X", "utf8", context.asAbsolutePath("run_server.py")],
    // A directory of our own, so that not even a relative path in the PATH leads into the user's files.
    options: { cwd: context.extensionPath },
  };
}

function clientOptions(log: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: DOCUMENTS,
    outputChannel: log,
    initializationFailedHandler: () => false, // one message is enough, and the client has another one
    // A function, so that a server which is started again after a crash gets the settings of that moment.
    initializationOptions: () => ({ settings: vscode.workspace.getConfiguration().get(ID) }),
    // Sends {"lsp-ad": {...}} in workspace/didChangeConfiguration, at the start and on every change.
    synchronize: { configurationSection: ID },
  };
}
