"""`tf.layers`: re-exports. It is loaded when first asked for."""
