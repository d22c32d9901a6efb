"""`tf.contrib.opt`: optimizers beside those of `tf.train`, and optimizers around optimizers. Source: TF 1.15."""
