"""Computation in halves with variables in single precision. Source: `tf.keras.mixed_precision.experimental`, TF 1.15."""
