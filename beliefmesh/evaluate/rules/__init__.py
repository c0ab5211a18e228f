"""How well the rules read: hand-written cases in English and Chinese, and what extraction makes of them."""
