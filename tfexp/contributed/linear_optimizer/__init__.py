"""Linear models trained by stochastic dual coordinate ascent. Source: `tf.contrib.linear_optimizer`, TF 1.15."""
