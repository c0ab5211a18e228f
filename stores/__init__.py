"""Where things are kept: the ports, their adapters, and how one is opened by URL."""
