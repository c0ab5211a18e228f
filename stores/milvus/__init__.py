"""The index in Milvus or Milvus Lite, through pymilvus."""
