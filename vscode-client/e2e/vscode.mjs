// A real VS Code (code-server) and the few things the test does with it: all selectors are here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.colorTheme": "Default Light Modern",
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "breadcrumbs.enabled": false,
  "files.autoSave": "off",
  "editor.minimap.enabled": false,
  "editor.lightbulb.enabled": "on",
  "editor.hover.delay": 200,
  // One plain text area takes the keys; both of these put something else in its place.
  "editor.accessibilitySupport": "off",
  "editor.editContext": false,
};

const BROWSER_ARGUMENTS = [
  "--no-sandbox", // Chromium refuses to sandbox when it is run by root, as CI does
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  // No name but the loopback address resolves: the page cannot leave the machine.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Writes the settings of the machine that VS Code's extensions run on. A running VS Code notices. */
export function configureMachine(root, settings) {
  mkdirSync(join(root, "user-data/Machine"), { recursive: true });
  writeFileSync(join(root, "user-data/Machine/settings.json"), JSON.stringify(settings));
}

/** What the extension and its server have logged since VS Code was started. */
export function readLog(root) {
  const logs = join(root, "user-data/logs");
  const [name] = readdirSync(logs, { recursive: true }).filter((path) => path.endsWith("/lsp-ad.log"));
  return name ? readFileSync(join(logs, name), "utf8") : "";
}

/** Starts code-server on a folder, with the VSIX that setup.sh installed. `binaries` comes first on its PATH. */
export async function startCodeServer(root, { workspace, binaries }) {
  mkdirSync(join(root, "user-data/User"), { recursive: true });
  writeFileSync(join(root, "user-data/User/settings.json"), JSON.stringify(SETTINGS, null, 2));
  rmSync(join(root, "user-data/logs"), { recursive: true, force: true });
  const port = await freePort();
  const log = openSync(join(root, "code-server.log"), "w");
  const entry = join(root, "code-server/node_modules/code-server/out/node/entry.js");
  const options = [
    ["--bind-addr", `127.0.0.1:${port}`],
    ["--auth", "none"],
    ["--user-data-dir", join(root, "user-data")],
    ["--extensions-dir", join(root, "extensions")],
    ["--disable-telemetry"],
    ["--disable-update-check"],
    ["--disable-workspace-trust"],
    ["--disable-getting-started-override"],
    ["--ignore-last-opened"],
  ];
  const child = spawn(process.execPath, [entry, ...options.flat()], {
    env: {
      ...process.env,
      PATH: binaries + delimiter + process.env.PATH,
      VSCODE_CLI: "1", // started by hand: no login shell is asked for another PATH
      XDG_CONFIG_HOME: join(root, "xdg/config"),
      XDG_DATA_HOME: join(root, "xdg/data"),
      XDG_CACHE_HOME: join(root, "xdg/cache"),
      // No gallery of extensions to ask.
      EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: "http://127.0.0.1:1", itemUrl: "http://127.0.0.1:1" }),
    },
    stdio: ["ignore", log, log],
    detached: true, // a process group of its own, for stop()
  });
  const gone = once(child, "exit");

  const address = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + 30_000; ; await new Promise((tick) => setTimeout(tick, 100))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`no code-server: see ${root}/code-server.log`);
    if (await fetch(`${address}/healthz`).then((answer) => answer.ok, () => false)) break;
  }
  return {
    url: `${address}/?folder=${encodeURIComponent(workspace)}`,
    /** Ends the whole group: code-server, its extension host and the language server. */
    async stop() {
      process.kill(-child.pid, "SIGTERM");
      await gone;
    },
  };
}

/** Does what VS Code may not be ready for, again and again until nothing in it times out. */
async function attempt(steps) {
  for (let left = 20; ; left--) {
    try {
      return await steps(1500);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

export class VSCode {
  static async open(url) {
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: BROWSER_ARGUMENTS });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
    await page.goto(url);
    await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor({ timeout: 60_000 });
    return new VSCode(browser, page);
  }

  constructor(browser, page) {
    this.browser = browser;
    this.page = page;
  }

  close() {
    return this.browser.close();
  }

  press(keys) {
    return this.page.keyboard.press(keys);
  }

  screenshot(path) {
    return this.page.screenshot({ path });
  }

  /** Opens a file by name, with the cursor at `line` and `column`, counted from one. */
  async openFile(name, { line, column }) {
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    const first = this.page.locator(".quick-input-list .monaco-list-row.focused");
    const editor = this.page.locator(`.editor-instance .monaco-editor[data-uri$="/${name}"]`);
    const cursor = this.page.locator(".statusbar-item").getByText(`Ln ${line}, Col ${column}`, { exact: true });
    await attempt(async (timeout) => {
      await this.press("Escape");
      await this.press("Control+P");
      await input.fill(`${name}:${line}:${column}`);
      // Enter may come before the list has been narrowed to what was typed, and then opens another file. The
      // first search waits for the extension host, which takes some seconds to start.
      await first.filter({ hasText: name }).waitFor({ timeout: 5 * timeout });
      await this.press("Enter");
      await editor.locator(".view-line").first().waitFor({ timeout });
      await cursor.waitFor({ timeout });
    });
    return editor;
  }

  /** The lines of an editor that contain a text. Only lines on the screen exist in the page. */
  line(editor, text) {
    return editor.locator(".view-line").filter({ hasText: text });
  }

  /** In the text or, where there is no room on the line, in the margin. */
  get lightbulb() {
    return this.page.locator(
      '.monaco-editor .contentWidgets .lightBulbWidget:visible, .monaco-editor [class*="codicon-gutter-lightbulb"]',
    );
  }

  get menu() {
    return this.page.locator(".context-view > .action-widget");
  }

  get disabledActions() {
    return this.menu.locator(".monaco-list-row.action.option-disabled");
  }

  /**
   * Opens a menu of code actions with its keys, and returns the titles in it. VS Code asks the server once, and shows
   * "No code actions available" where that was too early: then it is asked again.
   */
  async openMenu(keys) {
    await attempt(async (timeout) => {
      await this.press(keys);
      await this.menu.waitFor({ timeout });
    });
    const titles = await this.menu.locator(".monaco-list-row.action .title").allTextContents();
    return titles.map((title) => title.trim());
  }

  /** Takes an action of the open menu, by keyboard: a transparent element over the menu takes the clicks. */
  async pick(title) {
    const focused = this.menu.locator(".monaco-list-row.action.focused .title");
    for (let left = await this.menu.locator(".monaco-list-row.action").count(); ; left--) {
      if ((await focused.textContent()).trim() === title) break;
      if (left === 0) throw new Error(`no action "${title}" in the menu`);
      await this.press("ArrowDown");
    }
    await this.press("Enter");
    await this.menu.waitFor({ state: "hidden" });
  }

  /** Shows the hover at the cursor, and returns its text. Asked again while it is empty: the server may be starting. */
  async hoverText(editor) {
    const rows = this.page.locator(".monaco-hover:visible .hover-row:not(.status-bar)");
    await attempt(async (timeout) => {
      await editor.locator("textarea.inputarea").focus();
      await this.press("Control+K");
      await this.press("Control+I");
      await rows.first().waitFor({ timeout });
    });
    const text = (await rows.allTextContents()).join("\n");
    await this.press("Escape");
    return text.replaceAll("\u00a0", " "); // code is shown with spaces that do not break
  }

  notification(text) {
    return this.page.locator(".notifications-toasts .notification-list-item-message").filter({ hasText: text });
  }

  /** Waits until the file has changes that are not saved. */
  async changed() {
    await this.page.locator(".tabs-container .tab.active.dirty").waitFor();
  }

  /** Saves the file, and waits until it is saved. */
  async save() {
    await this.press("Control+S");
    await this.page.locator(".tabs-container .tab.active:not(.dirty)").waitFor();
  }
}
