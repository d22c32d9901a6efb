"""`tf.contrib.slim.nets`: well-known models of images, whose variables have the names that published checkpoints have."""
