"""The language server: one file per editor feature, and no knowledge of calculus in any of them."""
