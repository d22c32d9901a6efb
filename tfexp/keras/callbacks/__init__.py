"""`tf.keras.callbacks`: what watches a model that is trained, tested or asked, and may change it. Source: TF 1.15."""
