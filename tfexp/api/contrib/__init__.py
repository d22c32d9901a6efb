"""`tf.contrib`: the few names of it that programs in TensorFlow 1's style need (`features.md`: G10, V2, V4, O4, O6)."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {},
    modules={"tfexp.api.contrib": "eager layers legacy_seq2seq rnn"},
)
