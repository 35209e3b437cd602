"""Writes into arrays: their forms, whose memory they change, and how they are differentiated and undone."""
