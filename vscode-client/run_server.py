"""Starts the bundled server: PYTHON -I run_server.py

-I keeps the working directory, PYTHONPATH and the user's site directory off sys.path, and the bundled
packages go in front of what is left, so neither a gast.py in the workspace nor another version of pygls
in the interpreter's own environment can take the place of what was packaged and tested.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "bundled" / "libs"))

from lsp_ad.cli import main

if __name__ == "__main__":
    sys.exit(main(["serve"]))
