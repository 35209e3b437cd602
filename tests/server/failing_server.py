"""A server whose features all raise: `python failing_server.py`. Run by test_shield.py."""

from lsp_ad.server import code_actions, diagnostics, hover, server


def broken(*_):
    raise ZeroDivisionError("injected")


hover.hover = broken
diagnostics.diagnostics = broken
code_actions.code_actions = broken
code_actions.generated = broken
server.updated = broken
server.Snapshots.close = broken

if __name__ == "__main__":
    server.serve()
