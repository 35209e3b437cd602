#!/usr/bin/env bash
# usage: [PYTHON=python3] e2e/run.sh ROOT
#
# The end-to-end test of lsp-ad.vsix. PYTHON needs NumPy: the test runs the generated gradient with it.
# Leaves ROOT/screenshot.png, and ROOT/last.png, which shows where a test that failed was stuck.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
"$HERE/setup.sh" "$1"
E2E_ROOT=$(cd "$1" && pwd)
export E2E_ROOT TMPDIR=$E2E_ROOT/tmp
exec node --test --test-reporter=spec "$HERE/e2e.test.mjs"
