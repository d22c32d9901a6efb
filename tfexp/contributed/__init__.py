"""`tf.contrib`, as far as tfexp has it: what scripts used most, built from the rest of the library. Source: TF 1.15."""
