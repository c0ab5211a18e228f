"""The MCP server: a memory as tools of a language model, over standard input and output or HTTP."""
