"""`python -m tfexp.tflite_convert --output_file FILE …`: a model becomes a TensorFlow Lite file. Source: TF 1.15's tool.

--graph_def_file FILE --input_arrays a,b --output_arrays c   a frozen graph, between nodes
--saved_model_dir DIR                                        a SavedModel's signature
--keras_model_file FILE                                      a Keras model
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tfexp.lite.converter import ConverterError, TFLiteConverter


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    inputs, outputs = _names(given.input_arrays), _names(given.output_arrays)
    if given.graph_def_file and not (inputs and outputs):
        parser.error("--input_arrays and --output_arrays are required with --graph_def_file")
    try:
        shapes = _shapes(inputs, given.input_shapes)
        converter = _converter(given, inputs, outputs, shapes)
        converter.post_training_quantize = given.post_training_quantize
        converter.allow_custom_ops = given.allow_custom_ops
        model = converter.convert()
        with open(given.output_file, "wb") as file:
            file.write(model)
    except (ConverterError, OSError, RuntimeError, ValueError) as error:
        print(f"tflite_convert: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tflite_convert", description="Make a TensorFlow Lite file of a model.")
    parser.add_argument("--output_file", required=True, help="the file to write")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--graph_def_file", help="a file with a frozen GraphDef")
    source.add_argument("--saved_model_dir", help="a SavedModel's folder")
    source.add_argument("--keras_model_file", help="a Keras model's HDF5 file")
    parser.add_argument("--input_arrays", help="names of input nodes, separated by commas")
    parser.add_argument("--input_shapes", help="their shapes, separated by colons: 1,224,224,3:1,10")
    parser.add_argument("--output_arrays", help="names of output nodes, separated by commas")
    parser.add_argument("--saved_model_tag_set", help="tags of the SavedModel's graph, separated by commas (default serve)")
    parser.add_argument("--saved_model_signature_key", help="its signature (default serving_default)")
    parser.add_argument("--post_training_quantize", action="store_true", help="round large weights to int8")
    parser.add_argument("--allow_custom_ops", action="store_true", help="let unknown ops become custom ones")
    return parser


def _names(text: str | None) -> list[str] | None:
    return text.split(",") if text else None


def _shapes(inputs: Sequence[str] | None, text: str | None) -> dict[str, list[int]] | None:
    """{input: shape}. ValueError: there are not as many shapes as inputs, or sizes are no numbers."""
    if text is None:
        return None
    shapes = [[int(size) for size in one.split(",") if size] for one in text.split(":")]
    if inputs is None or len(inputs) != len(shapes):
        raise ValueError("--input_shapes must have a shape for each of --input_arrays")
    return dict(zip(inputs, shapes, strict=True))


def _converter(
    given: argparse.Namespace,
    inputs: list[str] | None,
    outputs: list[str] | None,
    shapes: dict[str, list[int]] | None,
) -> TFLiteConverter:
    if given.graph_def_file:
        return TFLiteConverter.from_frozen_graph(given.graph_def_file, inputs or [], outputs or [], shapes)
    if given.keras_model_file:
        return TFLiteConverter.from_keras_model_file(given.keras_model_file, inputs, shapes, outputs)
    tags = _names(given.saved_model_tag_set)
    return TFLiteConverter.from_saved_model(
        given.saved_model_dir, inputs, shapes, outputs, tags, given.saved_model_signature_key
    )


if __name__ == "__main__":
    sys.exit(main())
