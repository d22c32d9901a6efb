"""Keras as TensorFlow 1.15 has it: layers, models, training. The public names are those of `tfexp.api.keras`."""
