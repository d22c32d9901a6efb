"""Small published data sets, from `~/.keras/datasets`; fetched from where they are published when they are not there."""

# Where TensorFlow's copies are published.
PUBLISHED = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
