"""The evaluation of merge proposals: hand-written pairs, and how well they are told apart."""
