"""Language models behind an endpoint, and the record of what they said."""
