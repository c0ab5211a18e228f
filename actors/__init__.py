"""Who owns what: extractor, entity shard, indexer, recaller; plain classes, and their remote shells."""
