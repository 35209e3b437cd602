"""Forward mode: each statement, and directly after it its tangent."""
