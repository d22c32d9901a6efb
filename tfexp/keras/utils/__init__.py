"""`tf.keras.utils`: batches, files, and arrays in the shapes that models take."""
