"""`tf.strings`: tensors of texts."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.string_hash": (
            "to_hash_bucket=string_to_hash_bucket to_hash_bucket_fast=string_to_hash_bucket_fast "
            "to_hash_bucket_strong=string_to_hash_bucket_strong"
        ),
        "tfexp.ops.string_join": "reduce_join unsorted_segment_join",
        "tfexp.ops.string_regex": "regex_full_match regex_replace",
        "tfexp.ops.string_text": "length=string_length lower=string_lower strip=string_strip upper=string_upper substr",
        "tfexp.ops.strings": "as_string join=string_join to_number=string_to_number",
        "tfexp.ops.unicode_script": "unicode_script",
    },
)
