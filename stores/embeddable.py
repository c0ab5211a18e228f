"""What a text must be for a model to read it, and a vector to be compared by its direction alone."""

import numpy as np

from stores.ports import Vectors


def cleaned(text: str) -> str:
    """A text that survives C strings and UTF-8; an empty one is refused by some models."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8") or " "


def unit(vectors: Vectors) -> Vectors:
    """Vectors scaled to length one; what has no length stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 0.0, lengths, 1.0)).astype(np.float32)
    return scaled
