"""Sources: what other systems write (tickets, logs) becomes observations, by mappings and patterns in YAML files."""
