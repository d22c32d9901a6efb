"""`tf.feature_column`: columns of features, and the layers that take them. It is loaded when first asked for."""

from tfexp.core.gone import missing_from
from tfexp.feature_column.categorical import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
from tfexp.feature_column.categorical import categorical_column_with_identity as categorical_column_with_identity
from tfexp.feature_column.categorical import (
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
)
from tfexp.feature_column.categorical import (
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
)
from tfexp.feature_column.categorical import crossed_column as crossed_column
from tfexp.feature_column.categorical import weighted_categorical_column as weighted_categorical_column
from tfexp.feature_column.dense import embedding_column as embedding_column
from tfexp.feature_column.dense import indicator_column as indicator_column
from tfexp.feature_column.dense import shared_embedding_columns as shared_embedding_columns
from tfexp.feature_column.model import input_layer as input_layer
from tfexp.feature_column.model import linear_model as linear_model
from tfexp.feature_column.model import make_parse_example_spec as make_parse_example_spec
from tfexp.feature_column.numeric import bucketized_column as bucketized_column
from tfexp.feature_column.numeric import numeric_column as numeric_column

__getattr__ = missing_from("tf.feature_column")
