"""`tf.contrib.learn`: estimators that take arrays, and vocabularies of texts, on `tf.estimator`. Source: TF 1.15."""
