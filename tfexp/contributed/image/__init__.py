"""`tf.contrib.image`: images moved, turned and warped. Source: TF 1.15."""
