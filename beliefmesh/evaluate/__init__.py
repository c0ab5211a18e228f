"""Evaluations: public data goes through the product, and figures say what came out."""
