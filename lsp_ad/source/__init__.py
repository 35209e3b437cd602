"""Text and tree: documents, positions, parsing with spans and comments, printing, edits."""
