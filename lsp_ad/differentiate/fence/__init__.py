"""What the differentiator accepts: an allow-list, read against the user's text before any pass runs."""
