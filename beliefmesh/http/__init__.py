"""The HTTP API: routes over a memory, one error shape, health and metrics, and the server that carries them."""
