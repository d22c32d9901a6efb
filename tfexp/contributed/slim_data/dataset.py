"""`tf.contrib.slim.dataset`: where examples are, and how they are read and decoded."""

from __future__ import annotations

from typing import Any


class Dataset:
    """The description of a data set; further arguments are further attributes.

    `data_sources`: file names or patterns; `reader`: a class of readers; `decoder`: a DataDecoder; `items_to_descriptions`:
    what the items of the decoder are, in words.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: dict[str, str],
        **kwargs: Any,
    ):
        self.__dict__.update(kwargs)
        self.data_sources, self.reader, self.decoder = data_sources, reader, decoder
        self.num_samples, self.items_to_descriptions = num_samples, items_to_descriptions
