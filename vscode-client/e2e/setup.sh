#!/usr/bin/env bash
# usage: e2e/setup.sh ROOT
#
# Puts under ROOT all that the end-to-end test needs: a real VS Code (code-server, VS Code in the
# browser), a browser, a Python that has nothing but its standard library, and the packaged VSIX
# installed in that VS Code. What is there already is left alone, so the second run takes seconds.
#
# Every download is a plain package from apt or npm. Install scripts are off, because some would fetch
# prebuilt binaries from elsewhere; the few native modules VS Code cannot do without are compiled here.
# Needs Debian or Ubuntu (as root, or with the apt packages below already there), Node 20 or newer with
# its headers, a C++ compiler, make and python3.
set -euo pipefail

CODE_SERVER=4.100.3   # VS Code 1.100.3; its native modules build with Node 20
CLIENT=$(cd "$(dirname "$0")/.." && pwd)
ROOT=$(mkdir -p "$1" && cd "$1" && pwd)
[ -f "$CLIENT/lsp-ad.vsix" ] || { echo "no lsp-ad.vsix: run 'npm install && npm run package' first" >&2; exit 1; }
mkdir -p "$ROOT/tmp"
export TMPDIR=$ROOT/tmp
# Started by "npm run", this script inherits the client's .npmrc in these, which is not meant for code-server.
unset npm_config_ignore_scripts npm_config_package_lock
step() { printf '[%3ss] %s\n' "$SECONDS" "$*"; }
npm_install() { npm install --ignore-scripts --loglevel=error --no-audit --no-fund "$@" >/dev/null; }

if [ ! -x /usr/bin/chromium ] || ! command -v rg >/dev/null; then
  step "apt: chromium, ripgrep, a font"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends chromium ripgrep fonts-dejavu-core >/dev/null
fi

if [ ! -x "$ROOT/plain-python/bin/python3" ]; then
  step "a Python without any package"
  python3 -m venv --without-pip "$ROOT/plain-python"
fi

if [ "$(cat "$ROOT/code-server/complete" 2>/dev/null)" != "$CODE_SERVER" ]; then
  step "code-server $CODE_SERVER"
  rm -rf "$ROOT/code-server"
  mkdir -p "$ROOT/code-server"
  cd "$ROOT/code-server"
  echo '{"private": true}' >package.json
  npm_install "code-server@$CODE_SERVER"
  VSCODE=$ROOT/code-server/node_modules/code-server/lib/vscode
  # code-server ships VS Code without its dependencies: its install script, skipped above, fetches them
  # and makes the three links below.
  for part in "$VSCODE" "$VSCODE/extensions"; do
    (cd "$part" && npm_install --omit=dev)
  done
  ln -sfn node_modules "$VSCODE/node_modules.asar"
  ln -sf code-linux.sh "$VSCODE/bin/remote-cli/code-server"
  ln -sf browser-linux.sh "$VSCODE/bin/helpers/browser.sh"
  # Quick open searches files with ripgrep; the npm package is only a downloader, apt has the program.
  mkdir -p "$VSCODE/node_modules/@vscode/ripgrep/bin"
  ln -sf "$(command -v rg)" "$VSCODE/node_modules/@vscode/ripgrep/bin/rg"

  step "native modules"
  # node-gyp would download Node's headers: point it at the ones beside the node that is running.
  prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
  if [ -f "$prefix/include/node/node.h" ]; then export npm_config_nodedir=$prefix; fi
  npm_config_build_from_source=true npm rebuild --loglevel=error argon2 >/dev/null   # code-server does not start without it
  (cd "$VSCODE" && npm rebuild --loglevel=error native-watchdog @vscode/spdlog >/dev/null)   # spdlog: output channels
  node_modules/.bin/code-server --version >/dev/null
  echo "$CODE_SERVER" >complete
fi

vsix=$(sha256sum <"$CLIENT/lsp-ad.vsix")
if [ "$(cat "$ROOT/installed-vsix" 2>/dev/null)" != "$vsix" ]; then
  step "install the VSIX"
  rm -rf "$ROOT/extensions"   # never a leftover file of an earlier build of the same version
  XDG_CONFIG_HOME=$ROOT/xdg/config XDG_DATA_HOME=$ROOT/xdg/data \
    "$ROOT/code-server/node_modules/.bin/code-server" --user-data-dir "$ROOT/user-data" \
    --extensions-dir "$ROOT/extensions" --force --install-extension "$CLIENT/lsp-ad.vsix" \
    >"$ROOT/install.log" 2>&1 || { cat "$ROOT/install.log" >&2; exit 1; }
  echo "$vsix" >"$ROOT/installed-vsix"
fi
step "ready"
