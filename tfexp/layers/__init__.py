"""`tf.layers`: layers with variables of their own. It is loaded when first asked for."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.layers.base": "Layer",
        "tfexp.layers.conv": (
            "Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose conv1d conv2d conv2d_transpose conv3d conv3d_transpose"
        ),
        "tfexp.layers.core": "Dense Dropout Flatten dense dropout flatten",
        "tfexp.layers.input_spec": "InputSpec",
        "tfexp.layers.normalization": "BatchNormalization batch_normalization",
        "tfexp.layers.pooling": (
            "AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D "
            "average_pooling1d average_pooling2d average_pooling3d max_pooling1d max_pooling2d max_pooling3d"
        ),
        "tfexp.layers.separable": "SeparableConv1D SeparableConv2D separable_conv1d separable_conv2d",
    },
)
