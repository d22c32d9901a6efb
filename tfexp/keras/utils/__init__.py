"""What programs need around models: data made ahead of time, a progress line, files, pictures. `tf.keras.utils`."""
