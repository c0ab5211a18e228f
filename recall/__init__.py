"""A query becomes an answer: four retrievers, fusion, the path of evidence, explanation."""
