"""What travels and what is kept: frozen data, wire format, errors. Pure; imports nothing of the house."""
