"""The embedded log and graph: SQLite files, their schema, transactions and upkeep."""
