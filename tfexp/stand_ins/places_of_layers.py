"""The rows of the table of stand-ins (`places`) for `tf.layers` and for feature columns."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_COLUMNS = (
    "tfexp.feature_column.column tfexp.feature_column.numeric tfexp.feature_column.categorical tfexp.feature_column.dense "
    "tfexp.feature_column.sequence tfexp.feature_column.dense_features tfexp.feature_column.sequence_features "
    "tfexp.feature_column.sequence_model "
    + renamed("tfexp.feature_column.serialization", serialize_feature_column="serialize")
    + renamed("tfexp.feature_column.serialization", serialize_feature_columns="serialize_all")
    + renamed("tfexp.feature_column.serialization", deserialize_feature_column="deserialize")
    + renamed("tfexp.feature_column.serialization", deserialize_feature_columns="deserialize_all")
    + renamed("tf.feature_column", make_parse_example_spec_v2="make_parse_example_spec")
)
_FROM_FILE = "categorical_column_with_vocabulary_file"
_LATER_COLUMNS = (
    "tf.feature_column tfexp.stand_ins.feature_columns tfexp.stand_ins.feature_layers tfexp.feature_column.states "
    + renamed("tfexp.feature_column.states", _StateManagerImpl="LayerStates", _StateManagerImplV2="NamedStates")
    + renamed("tf.compat.v2.feature_column", categorical_column_with_vocabulary_file_v2=_FROM_FILE)
    + renamed("tf.compat.v2.feature_column", shared_embedding_columns_v2="shared_embeddings")
    + renamed("tfexp.feature_column.shared_embeddings", SharedEmbeddingColumn="SharedEmbedding")
    + renamed("tfexp.feature_column.shared_embeddings", SharedEmbeddingColumnCreator="SharedTable")
    + _COLUMNS
)


def _older_columns() -> str:
    """TensorFlow's first columns and their classes, with an underscore before: here they are the later ones."""
    functions = (
        "numeric_column bucketized_column indicator_column embedding_column crossed_column weighted_categorical_column "
        "categorical_column_with_identity categorical_column_with_hash_bucket categorical_column_with_vocabulary_list "
        f"{_FROM_FILE}"
    )
    rooms = {
        "numeric": "Numeric Bucketized",
        "categorical": (
            "IdentityCategorical HashedCategorical VocabularyListCategorical VocabularyFileCategorical WeightedCategorical "
            "Crossed"
        ),
        "dense": "Indicator Embedding SharedEmbedding",
        "sequence": "SequenceCategorical",
    }
    classes = (
        renamed(f"tfexp.feature_column.{room}", **{f"_{kind}Column": f"{kind}Column" for kind in kinds.split()})
        for room, kinds in rooms.items()
    )
    of_sequences = renamed("tfexp.stand_ins.feature_columns", _SequenceDenseColumn="SequenceDenseColumn")
    return renamed("tf.feature_column", **{f"_{name}": name for name in functions.split()}) + "".join(classes) + of_sequences


def _pools() -> str:
    """MaxPool2D, avg_pool3d and so on: their short names."""
    kinds = [(short, name, n) for short, name in (("Max", "Max"), ("Avg", "Average")) for n in (1, 2, 3)]
    classes = {f"{short}Pool{n}D": f"{name}Pooling{n}D" for short, name, n in kinds}
    functions = {f"{short.lower()}_pool{n}d": f"{name.lower()}_pooling{n}d" for short, name, n in kinds}
    return renamed("tf.layers", **classes, **functions)


# tensorflow.python.<key>, with the places that answer, in order.
LAYERS = {
    "feature_column.feature_column": "tf.feature_column tfexp.stand_ins.feature_columns " + _older_columns(),
    "feature_column.feature_column_lib": _LATER_COLUMNS,
    "feature_column.feature_column_v2": _LATER_COLUMNS,
    "feature_column.utils": (
        renamed("tfexp.feature_column.sequence", sequence_length_from_sparse_tensor="sequence_lengths")
        + renamed("tfexp.feature_column.categorical", assert_key_is_string="check_key")
        + renamed("tfexp.feature_column.categorical", assert_string_or_int="check_texts_or_integers")
        + renamed("tfexp.feature_column.numeric", check_default_value="check_default_value")
    ),
    "feature_column.dense_features": _COLUMNS,
    "feature_column.dense_features_v2": "tfexp.version_2.keras_layers",
    "feature_column.sequence_feature_column": "tf.feature_column " + _COLUMNS,
    "feature_column.serialization": _COLUMNS
    + renamed("tfexp.feature_column.serialization", _column_name_with_class_name="name_with_class"),
    "layers.base": "tfexp.layers.base tf.layers",
    "layers.convolutional": "tf.layers "
    + renamed("tf.layers", Convolution1D="Conv1D", Convolution2D="Conv2D", Convolution3D="Conv3D")
    + renamed("tf.layers", Convolution2DTranspose="Conv2DTranspose", Convolution3DTranspose="Conv3DTranspose")
    + renamed("tf.layers", SeparableConvolution1D="SeparableConv1D", SeparableConvolution2D="SeparableConv2D")
    + renamed("tf.layers", convolution1d="conv1d", convolution2d="conv2d", convolution3d="conv3d")
    + renamed("tf.layers", convolution2d_transpose="conv2d_transpose", convolution3d_transpose="conv3d_transpose")
    + renamed("tf.layers", separable_convolution2d="separable_conv2d", deconv2d="conv2d_transpose")
    + renamed("tf.layers", deconv3d="conv3d_transpose", Deconvolution2D="Conv2DTranspose", Deconv2D="Conv2DTranspose")
    + renamed("tf.layers", Deconvolution3D="Conv3DTranspose", Deconv3D="Conv3DTranspose"),
    "layers.core": "tf.layers tf.layers:FullyConnected=Dense tf.layers:fully_connected=dense",
    "layers.layers": "tf.layers",
    "layers.normalization": "tf.layers tf.layers:BatchNorm=BatchNormalization tf.layers:batch_norm=batch_normalization",
    "layers.pooling": "tf.layers " + _pools(),
    "layers.utils": "tfexp.stand_ins.layer_arguments tf.contrib.framework",
}
