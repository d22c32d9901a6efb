"""`python -m tfexp.graph_tools COMMAND …`: graphs and checkpoints in files. Source: the tools of TF 1.15, with their flags.

freeze_graph                variables become constants
strip_unused                what is between inputs and outputs
optimize_for_inference      that, without what only training needs, and with batch normalisations folded
transform_graph             `--transforms='fold_constants remove_nodes(op=Identity)'`: see `tfexp.train.graph_transforms`
inspect_checkpoint          the tensors of a checkpoint
import_pb_to_tensorboard    a graph for TensorBoard
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from google.protobuf.text_format import ParseError
from tensorboard.compat.proto import graph_pb2, types_pb2

from tfexp.core.errors import OpError
from tfexp.formats.atomic_file import replace_file
from tfexp.graph.graph import Graph
from tfexp.graph.graphdef import import_graph_def
from tfexp.graph.inference_graph import optimize_for_inference, strip_unused_from_files
from tfexp.train import freeze_graph
from tfexp.train.checkpoint_utils import print_tensors_in_checkpoint_file
from tfexp.train.graph_transforms import TransformGraph
from tfexp.train.summary_writer import FileWriter
from tfexp.usage import while_read


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    given = vars(_parser().parse_args(arguments))
    command, name = given.pop("command"), given.pop("name")
    try:
        command(**given)
    except (AssertionError, DecodeError, KeyError, OpError, OSError, ParseError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


# --- flags --------------------------------------------------------------------------------------------------------------


def _yes(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"true or false, not {text!r}")
    return text.lower() == "true"


def _names(text: str) -> list[str]:
    return text.split(",")


def _kinds(text: str) -> Any:
    """The number of a type, or one for each input."""
    kinds = [int(part) for part in text.split(",")]
    return kinds if len(kinds) > 1 else kinds[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tfexp.graph_tools", description="Tools for graphs and checkpoints in files.")
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    def add(command: Callable[..., None], name: str, summary: str, **flags: Any) -> None:
        """Flags by their defaults; `str` where one has to be given."""
        one = commands.add_parser(name, help=summary, description=summary)
        one.set_defaults(command=command)
        for flag, default in flags.items():
            if isinstance(default, bool):
                one.add_argument(f"--{flag}", nargs="?", const=True, default=default, type=_yes, help=f"default {default}")
            elif isinstance(default, str):
                one.add_argument(f"--{flag}", default=default, help=f"default {default!r}")
            elif isinstance(default, int):
                one.add_argument(f"--{flag}", default=default, type=_kinds, help=f"default {default}")
            else:
                one.add_argument(f"--{flag}", required=True, type=default)

    add(
        freeze_graph.freeze_graph,
        "freeze_graph",
        "Make a graph of constants of a graph and a checkpoint, of a MetaGraph or of a SavedModel.",
        **{"input_graph": "", "input_saver": "", "input_binary": False, "input_checkpoint": "", "checkpoint_version": 2},
        **{"output_graph": str, "output_node_names": str, "restore_op_name": "save/restore_all"},
        **{"filename_tensor_name": "save/Const:0", "clear_devices": True, "initializer_nodes": ""},
        **{"variable_names_whitelist": "", "variable_names_blacklist": "", "input_meta_graph": ""},
        **{"input_saved_model_dir": "", "saved_model_tags": "serve"},
    )
    add(
        strip_unused_from_files,
        "strip_unused",
        "Keep what is between inputs and outputs.",
        **{"input_graph": str, "input_binary": False, "output_graph": str, "output_binary": True},
        **{"input_node_names": str, "output_node_names": str, "placeholder_type_enum": types_pb2.DT_FLOAT},
    )
    add(
        _optimize,
        "optimize_for_inference",
        "Keep what inference needs.",
        **{"input": str, "output": str, "input_names": _names, "output_names": _names, "frozen_graph": True},
        **{"placeholder_type_enum": types_pb2.DT_FLOAT, "toco_compatible": False},
    )
    add(
        _transform,
        "transform_graph",
        "Apply transforms to a graph.",
        **{"in_graph": str, "out_graph": str, "inputs": _names, "outputs": _names, "transforms": str},
    )
    add(
        _inspect,
        "inspect_checkpoint",
        "Print the tensors of a checkpoint.",
        **{"file_name": str, "tensor_name": "", "count_exclude_pattern": "", "all_tensors": False},
        **{"all_tensor_names": False, "printoptions": ""},
    )
    add(to_tensorboard, "import_pb_to_tensorboard", "Write a graph for TensorBoard.", model_dir=str, log_dir=str)
    return parser


# --- commands -----------------------------------------------------------------------------------------------------------


def _read(path: str, binary: bool = True) -> graph_pb2.GraphDef:
    return freeze_graph.read_message(graph_pb2.GraphDef(), path, binary)


def _optimize(
    *,
    input: str,
    output: str,
    input_names: list[str],
    output_names: list[str],
    frozen_graph: bool,
    placeholder_type_enum: Any,
    toco_compatible: bool,
) -> None:
    """`frozen_graph`: both files have bytes; else, text."""
    graph = _read(input, frozen_graph)
    optimized = optimize_for_inference(graph, input_names, output_names, placeholder_type_enum, toco_compatible)
    replace_file(output, optimized.SerializeToString() if frozen_graph else str(optimized).encode())


def _transform(*, in_graph: str, out_graph: str, inputs: list[str], outputs: list[str], transforms: str) -> None:
    replace_file(out_graph, TransformGraph(_read(in_graph), inputs, outputs, [transforms]).SerializeToString())


def _inspect(*, file_name: str, printoptions: str, all_tensors: bool, all_tensor_names: bool, **flags: str) -> None:
    """`printoptions`: how NumPy prints, as `threshold=10,precision=4`."""
    options = dict(part.split("=", 1) for part in printoptions.split(",") if part)
    settings: dict[str, Any] = {key: int(value) if value.isdigit() else value for key, value in options.items()}
    with np.printoptions(**settings):
        print_tensors_in_checkpoint_file(file_name, all_tensors=all_tensors, all_tensor_names=all_tensor_names, **flags)


def to_tensorboard(model_dir: str, log_dir: str) -> None:
    """`model_dir`: a file with a GraphDef, for all its name."""
    with Graph().as_default() as graph:
        import_graph_def(_read(model_dir))
    writer = FileWriter(log_dir)
    writer.add_graph(graph)
    writer.close()
    print(f"Model Imported. Visualize by running: tensorboard --logdir={log_dir}")


if __name__ == "__main__":
    sys.exit(while_read(main))
