"""What `tf.compat.v2.feature_column` has of its own."""

from tfexp import feature_column
from tfexp.feature_column.shared_embeddings import shared_embeddings as shared_embeddings
from tfexp.version_2.arguments import with_arguments

categorical_column_with_vocabulary_file = with_arguments(
    feature_column.categorical_column_with_vocabulary_file,
    "key, vocabulary_file, vocabulary_size=None, dtype=string, default_value=None, num_oov_buckets=0",
)
