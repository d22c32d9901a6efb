"""`Training`: what a model can do once it is compiled."""


class Training:
    """`compile`, `fit`, `evaluate`, `predict` and their siblings, for `tf.keras.Model`."""
