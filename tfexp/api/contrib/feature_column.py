"""`tf.contrib.feature_column`: columns of sequences and their input layer."""

from tfexp.core.gone import missing_from
from tfexp.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
)
from tfexp.feature_column.sequence import (
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
)
from tfexp.feature_column.sequence import (
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,
)
from tfexp.feature_column.sequence import (
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
)
from tfexp.feature_column.sequence import sequence_numeric_column as sequence_numeric_column
from tfexp.feature_column.sequence_model import concatenate_context_input as concatenate_context_input
from tfexp.feature_column.sequence_model import sequence_input_layer as sequence_input_layer

__getattr__ = missing_from("tf.contrib.feature_column")
