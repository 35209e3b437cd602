#!/usr/bin/env bash
# usage: [PYTHON=python3] e2e/run.sh ROOT
#
# The end-to-end test of lsp-ad.vsix. PYTHON needs NumPy: the test runs the generated gradient with it.
# Leaves ROOT/screenshot.png and ROOT/menu.png. Where a test fails, ROOT/last.png shows how VS Code looked at the end,
# and the end of the extension's log is printed.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
"$HERE/setup.sh" "$1"
E2E_ROOT=$(cd "$1" && pwd)
export E2E_ROOT TMPDIR=$E2E_ROOT/tmp
if ! node --test --test-reporter=spec "$HERE/e2e.test.mjs"; then
  echo "--- the log of lsp-ad:"
  find "$E2E_ROOT/user-data/logs" -name lsp-ad.log -exec tail -n 40 {} +
  exit 1
fi
