"""From swept bodies to text: simplified, with names for people, printed and placed in a file."""
