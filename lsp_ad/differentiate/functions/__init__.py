"""Functions as values, and calls: all become calls of ordinary functions of the file, or are written out."""
