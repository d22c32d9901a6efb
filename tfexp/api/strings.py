"""`tf.strings`: tensors of texts."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.string_hash": "to_hash_bucket_fast=string_to_hash_bucket_fast",
        "tfexp.ops.string_regex": "regex_replace",
        "tfexp.ops.string_text": "length=string_length strip=string_strip substr",
        "tfexp.ops.strings": "as_string join=string_join to_number=string_to_number",
    },
)
