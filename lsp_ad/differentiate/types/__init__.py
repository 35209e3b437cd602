"""What is known of the values of a function: their kinds, and what is taken for granted of them."""
