"""Objects are taken apart into their fields, and derivatives put together again."""
