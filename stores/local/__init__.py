"""The embedded index: rows in SQLite, keywords by tantivy, vectors by usearch."""
