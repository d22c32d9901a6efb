"""`tf.lite.TFLiteConverter`: graphs become TensorFlow Lite's files. Source: TF 1.15, `lite/python/lite.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated
from tfexp.formats.lite_model import write_model
from tfexp.graph.tensor import Tensor
from tfexp.lite import constants, lowering_arrays, lowering_nn, sources  # noqa: F401 - rules register themselves
from tfexp.lite.calibrating import NotQuantizableError, quantize_all
from tfexp.lite.draft import Draft
from tfexp.lite.fusing import fuse
from tfexp.lite.lowering import UnsupportedOpsError, lower
from tfexp.lite.quantizing import quantize_weights, store_in_float16
from tfexp.lite.settings import OpsSet, Optimize, RepresentativeDataset, TargetSpec


class ConverterError(Exception):
    """A graph that cannot be converted."""


class TFLiteConverter:
    """Converts what a graph computes between some of its tensors.

    Attributes, of which 1.15's documentation tells more: `target_spec`, `optimizations` (a list of `Optimize`),
    `representative_dataset`, `allow_custom_ops` (ops that TensorFlow Lite has not become custom ones), and in
    `post_training_quantize` and `target_ops` what was before them. `inference_type` is tf.float32.

    It is made from tensors, or from the names of nodes with shapes, `[("x", [1, 3])]`, and names of outputs.
    """

    def __init__(
        self,
        graph_def: Any,
        input_tensors: Sequence[Tensor] | None,
        output_tensors: Sequence[Tensor] | None,
        input_arrays_with_shape: Any = None,
        output_arrays: Any = None,
        experimental_debug_info_func: Any = None,
    ):
        if input_tensors and output_tensors:
            self._source = sources.Source(graph_def, list(input_tensors), list(output_tensors))
        elif input_arrays_with_shape and output_arrays:
            self._source = sources.of_graph_def(graph_def, dict(input_arrays_with_shape), output_arrays)
        else:
            raise ValueError(
                "If input_tensors and output_tensors are None, both input_arrays_with_shape and output_arrays must be "
                "defined."
            )
        self.inference_type = constants.FLOAT
        self.inference_input_type: Any = None
        self.inference_output_type: Any = None
        self.output_format = constants.TFLITE
        self.quantized_input_stats: dict[str, Any] = {}
        self.default_ranges_stats: Any = None
        self.drop_control_dependency = True
        self.reorder_across_fake_quant = False
        self.change_concat_input_ranges = False
        self.allow_custom_ops = False
        self.dump_graphviz_dir: Any = None
        self.dump_graphviz_video = False
        self.target_spec = TargetSpec()
        self.optimizations: list[Optimize] = []
        self.representative_dataset: Any = None
        self.experimental_enable_mlir_converter = False

    # --- where a graph comes from --------------------------------------------------------------------------------------

    @classmethod
    def from_session(cls, sess: Any, input_tensors: Sequence[Tensor], output_tensors: Sequence[Tensor]) -> TFLiteConverter:
        """What a session's graph computes, with the values that its variables have now."""
        return cls._of(sources.of_session(sess, input_tensors, output_tensors))

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: Any,
        input_arrays: Sequence[str],
        output_arrays: Sequence[str],
        input_shapes: Mapping[str, Any] | None = None,
    ) -> TFLiteConverter:
        """A GraphDef's file, between nodes by name; `input_shapes` for those of them that need one.

        OSError: there is no file, or it is no GraphDef. ValueError: names or shapes that do not fit, variables in the graph.
        """
        return cls._of(sources.of_frozen_graph(graph_def_file, input_arrays, output_arrays, input_shapes))

    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: Any,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Mapping[str, Any] | None = None,
        output_arrays: Sequence[str] | None = None,
        tag_set: Any = None,
        signature_key: str | None = None,
    ) -> TFLiteConverter:
        """A signature of a SavedModel, the one called `serving_default` of the graph tagged `serve` unless told.

        OSError: there is none. RuntimeError: no graph has these tags. ValueError: no such signature, names or shapes.
        """
        found = sources.of_saved_model(saved_model_dir, input_arrays, input_shapes, output_arrays, tag_set, signature_key)
        return cls._of(found)

    @classmethod
    def from_keras_model_file(
        cls,
        model_file: Any,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Mapping[str, Any] | None = None,
        output_arrays: Sequence[str] | None = None,
        custom_objects: Mapping[str, Any] | None = None,
    ) -> TFLiteConverter:
        """A Keras model's file, as it is when nothing is trained. Keras starts over with it, as after `clear_session`."""
        return cls._of(sources.of_keras_file(model_file, input_arrays, input_shapes, output_arrays, custom_objects))

    @classmethod
    def _of(cls, source: sources.Source) -> TFLiteConverter:
        return cls(source.graph_def, source.inputs, source.outputs)

    # --- attributes that are others now --------------------------------------------------------------------------------

    @property
    def post_training_quantize(self) -> bool:
        """Whether `optimizations` are asked for. Deprecated."""
        return bool(self.optimizations)

    @post_training_quantize.setter
    def post_training_quantize(self, value: bool) -> None:
        self.optimizations = [Optimize.DEFAULT] if value else []

    @property
    def target_ops(self) -> Any:
        """`target_spec.supported_ops`. Deprecated."""
        return self.target_spec.supported_ops

    @target_ops.setter
    def target_ops(self, value: Any) -> None:
        self.target_spec.supported_ops = value

    # --- converting ----------------------------------------------------------------------------------------------------

    def get_input_arrays(self) -> list[str]:
        """The names of the input tensors' nodes."""
        return [tensor.op.name for tensor in self._source.inputs]

    def convert(self) -> bytes:
        """The model's file.

        ValueError: an input's shape is not known beyond its first size, or settings contradict each other. ConverterError:
        ops that TensorFlow Lite has not, which the error names, or settings that are not in tfexp.
        """
        shapes = [_known_shape(tensor) for tensor in self._source.inputs]
        self._check_settings()
        draft = self._draft(shapes)
        fuse(draft)
        draft.prune()
        draft.sort()
        self._quantize(draft)
        return write_model(draft.model())

    def _quantize(self, draft: Draft) -> None:
        """What the optimizations, examples and types ask for."""
        if not self.optimizations and not self._wants_int8():
            return
        if self._smallest_type() == dtypes.float16:
            store_in_float16(draft)
        elif self.representative_dataset is None:
            quantize_weights(draft)
        else:
            outer = (self.inference_input_type, self.inference_output_type)
            types = [dtypes.as_dtype(given or dtypes.float32).as_numpy_dtype for given in outer]
            try:
                quantize_all(draft, self.representative_dataset.input_gen, not self._wants_int8(), *types)
            except NotQuantizableError as error:
                raise ConverterError(f"Quantization not yet supported for op: {error}") from error

    def _wants_int8(self) -> bool:
        only_int8 = {OpsSet.TFLITE_BUILTINS_INT8} == set(self.target_spec.supported_ops)
        return only_int8 or self._smallest_type() == dtypes.int8

    def _check_settings(self) -> None:
        if self.representative_dataset:
            if not isinstance(self.representative_dataset, RepresentativeDataset):
                self.representative_dataset = RepresentativeDataset(self.representative_dataset)
            if self.representative_dataset.input_gen is None:
                raise ValueError("Provide an input generator for representative_dataset")
        elif self._wants_int8():
            raise ValueError(
                "representative_dataset is required when specifying TFLITE_BUILTINS_INT8 or INT8 supported types."
            )
        if self.output_format != constants.TFLITE:
            raise ConverterError("output_format: tfexp writes TFLITE files only.")
        asked = (self.inference_type, self.inference_input_type)
        if not self.optimizations and constants.QUANTIZED_UINT8 in asked and not self.quantized_input_stats:
            raise ValueError("std_dev and mean must be defined when inference_input_type is QUANTIZED_UINT8.")
        if self.inference_type != constants.FLOAT:
            raise ConverterError("inference_type: tfexp converts models of tf.float32, which `optimizations` may quantize.")

    def _smallest_type(self) -> Any:
        return min(self.target_spec.supported_types, key=lambda dtype: dtype.size, default=None)

    def _draft(self, shapes: Sequence[Sequence[int]]) -> Draft:
        try:
            return lower(*sources.between(self._source, shapes), self.allow_custom_ops)
        except UnsupportedOpsError as error:
            nodes = "; ".join(f"{op} ({', '.join(names[:3])})" for op, names in sorted(error.nodes.items()))
            raise ConverterError(
                "Some of the operators in the model are not supported by the standard TensorFlow Lite runtime. With "
                "allow_custom_ops=True they become custom operators, which a runtime has to be given. Here is a list of "
                f"builtin operators you are using: {', '.join(error.used)}. Here is a list of operators for which you will "
                f"need custom implementations: {', '.join(sorted(error.nodes))}. They are nodes: {nodes}."
            ) from error


def _known_shape(tensor: Tensor) -> list[int]:
    """An input's shape, with 1 for a first size that is not known. ValueError: others are not known."""
    name = tensor.op.name
    if tensor.shape.rank is None:
        raise ValueError(f"Provide an input shape for input array '{name}'.")
    dims = tensor.shape.as_list()
    if None in dims[1:]:
        raise ValueError(f"None is only supported in the 1st dimension. Tensor '{name}' has invalid shape '{dims}'.")
    return [1 if size is None else size for size in dims]


class TocoConverter:
    """`TFLiteConverter` under its name before 1.13. Deprecated."""

    @classmethod
    @deprecated(None, "Use `lite.TFLiteConverter.from_session` instead.")
    def from_session(cls, sess: Any, input_tensors: Sequence[Tensor], output_tensors: Sequence[Tensor]) -> TFLiteConverter:
        """`TFLiteConverter.from_session`."""
        return TFLiteConverter.from_session(sess, input_tensors, output_tensors)

    @classmethod
    @deprecated(None, "Use `lite.TFLiteConverter.from_frozen_graph` instead.")
    def from_frozen_graph(
        cls, graph_def_file: Any, input_arrays: Any, output_arrays: Any, input_shapes: Any = None
    ) -> TFLiteConverter:
        """`TFLiteConverter.from_frozen_graph`."""
        return TFLiteConverter.from_frozen_graph(graph_def_file, input_arrays, output_arrays, input_shapes)

    @classmethod
    @deprecated(None, "Use `lite.TFLiteConverter.from_saved_model` instead.")
    def from_saved_model(
        cls,
        saved_model_dir: Any,
        input_arrays: Any = None,
        input_shapes: Any = None,
        output_arrays: Any = None,
        tag_set: Any = None,
        signature_key: Any = None,
    ) -> TFLiteConverter:
        """`TFLiteConverter.from_saved_model`."""
        return TFLiteConverter.from_saved_model(
            saved_model_dir, input_arrays, input_shapes, output_arrays, tag_set, signature_key
        )

    @classmethod
    @deprecated(None, "Use `lite.TFLiteConverter.from_keras_model_file` instead.")
    def from_keras_model_file(
        cls, model_file: Any, input_arrays: Any = None, input_shapes: Any = None, output_arrays: Any = None
    ) -> TFLiteConverter:
        """`TFLiteConverter.from_keras_model_file`."""
        return TFLiteConverter.from_keras_model_file(model_file, input_arrays, input_shapes, output_arrays)


@deprecated(None, "Use `lite.TFLiteConverter` instead.")
def toco_convert(
    input_data: Any,
    input_tensors: Sequence[Tensor],
    output_tensors: Sequence[Tensor],
    *,
    allow_custom_ops: bool = False,
    post_training_quantize: bool = False,
) -> bytes:
    """The file of what a frozen GraphDef computes between tensors. `tf.lite.toco_convert`, without most of its settings."""
    converter = TFLiteConverter(input_data, input_tensors, output_tensors)
    converter.allow_custom_ops = allow_custom_ops
    converter.post_training_quantize = post_training_quantize
    return converter.convert()
