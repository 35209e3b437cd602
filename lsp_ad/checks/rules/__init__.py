"""The rules for functions that run while they are traced, one a module."""
