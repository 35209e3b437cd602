"""The form that the sweeps differentiate: one name a value, one operation a statement."""
