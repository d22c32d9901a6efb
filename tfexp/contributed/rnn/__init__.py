"""`tf.contrib.rnn`: cells and wrappers beside those of `tf.nn.rnn_cell`. Source: TF 1.15."""
