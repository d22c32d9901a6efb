"""What private modules of Keras ask about layers: their weights together, the shapes they take, their age.

`generic_utils`, `layer_utils`, `tf_utils` and `input_spec` of `tensorflow.python.keras`. Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras import backend
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.layers.base import Layer as LegacyLayer


def serialize_keras_class_and_config(cls_name: str, cls_config: Mapping[str, Any]) -> dict[str, Any]:
    """What `deserialize` makes an object from."""
    return {"class_name": cls_name, "config": cls_config}


def object_list_uid(object_list: Any) -> str:
    """A text that differs for structures of other objects."""
    return ", ".join(str(abs(id(one))) for one in nest.flatten(object_list))


def gather_trainable_weights(trainable: bool, sub_layers: Iterable[Any], extra_variables: Iterable[Any]) -> list[Any]:
    """The weights that are trained of layers, then of other variables; none where the whole is not `trainable`."""
    if not trainable:
        return []
    return [
        *(weight for layer in sub_layers for weight in layer.trainable_weights),
        *(variable for variable in extra_variables if variable.trainable),
    ]


def gather_non_trainable_weights(trainable: bool, sub_layers: Sequence[Any], extra_variables: Sequence[Any]) -> list[Any]:
    """The weights that are not trained; where the whole is not `trainable` all, those that otherwise would be first."""
    never = [
        *(weight for layer in sub_layers for weight in layer.non_trainable_weights),
        *(variable for variable in extra_variables if not variable.trainable),
    ]
    return never if trainable else gather_trainable_weights(True, sub_layers, extra_variables) + never


def to_tensor_shape(spec: InputSpec) -> TensorShape:
    """The shape of inputs, as far as a layer says; unknown where it leaves the number of dimensions open."""
    if spec.ndim is None:
        return TensorShape(None)
    sizes = [None] * spec.ndim if spec.shape is None else list(spec.shape)
    for axis, size in spec.axes.items():
        sizes[axis] = size
    return TensorShape(sizes)


def to_tensor_spec(input_spec: Any, default_dtype: Any = None) -> Any:
    """The TensorSpec of an InputSpec; of anything else nothing is known but the type, Keras's floats by default."""
    dtype = default_dtype or backend.floatx()
    if not isinstance(input_spec, InputSpec):
        return TensorSpec(None, dtype)
    return TensorSpec(to_tensor_shape(input_spec), input_spec.dtype or dtype)


def assert_no_legacy_layers(layers: Iterable[Any]) -> None:
    """TypeError where one is of `tf.layers`."""
    legacy = [layer for layer in layers if isinstance(layer, LegacyLayer)]
    if legacy:
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n  {', '.join(map(str, legacy))}\nUse those of tf.keras.layers "
            "in models of Keras, and derive your own from tf.keras.layers.Layer."
        )
