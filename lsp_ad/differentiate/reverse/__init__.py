"""The backward sweep, and what the forward sweep saves for it."""
