"""`python -m lsp_ad` is the command `lsp-ad`."""

import sys

from lsp_ad.cli import main

if __name__ == "__main__":
    sys.exit(main())
