"""`python -m tfexp.saved_model_cli show|run|scan --dir DIR …`: look at a SavedModel, and run it. Source: TF 1.15's tool.

show --dir DIR                                     its tag-sets
show --dir DIR --all                               everything
show --dir DIR --tag_set serve                     the signatures of one MetaGraph
show --dir DIR --tag_set serve --signature_def K   inputs and outputs of one signature
run  --dir DIR --tag_set serve --signature_def K   a signature, of
     --inputs 'x=file.npy;y=file.npz[name]'        arrays in files (.npy, .npz, pickles),
     --input_exprs 'x=np.ones((2, 3))'             Python expressions (np is NumPy),
     --input_examples 'x=[{"age": [22]}]'          tf.Examples as Python literals;
     --outdir DIR [--overwrite]                    the outputs as .npy files as well
scan --dir DIR [--tag_set serve]                   ops in it that read or write files
"""

from __future__ import annotations

import argparse
import ast
import pickle
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.core.errors import OpError
from tfexp.core.log import get_logger
from tfexp.formats.protos.example import Example
from tfexp.graph.graph import Graph
from tfexp.runtime.session import Session
from tfexp.train.saved_model_files import get_meta_graph_def, get_saved_model_tag_sets, read_saved_model
from tfexp.train.saved_model_loader import SavedModelLoader
from tfexp.usage import while_read

_log = get_logger()
_DENYLISTED = {"WriteFile", "ReadFile"}


# --- show --------------------------------------------------------------------------------------------------------------


def show(args: argparse.Namespace) -> None:
    """Print as much as the arguments ask for."""
    if args.all:
        _show_all(args.dir)
    elif args.tag_set is None:
        _show_tag_sets(args.dir)
    elif args.signature_def is None:
        _show_signature_def_map_keys(args.dir, args.tag_set)
    else:
        _show_inputs_outputs(args.dir, args.tag_set, args.signature_def)


def _show_tag_sets(saved_model_dir: str) -> None:
    tag_sets = sorted(get_saved_model_tag_sets(saved_model_dir))
    print("The given SavedModel contains the following tag-sets:")
    for tags in tag_sets:
        print(", ".join(sorted(tags)))


def _show_signature_def_map_keys(saved_model_dir: str, tag_set: str) -> None:
    keys = sorted(get_meta_graph_def(saved_model_dir, tag_set).signature_def)
    print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
    for key in keys:
        print(f'SignatureDef key: "{key}"')


def _show_inputs_outputs(saved_model_dir: str, tag_set: str, signature_def_key: str, indent: int = 0) -> None:
    signature, margin = _signature(get_meta_graph_def(saved_model_dir, tag_set), signature_def_key), "  " * indent
    for what, infos in (("input", signature.inputs), ("output", signature.outputs)):
        print(f"{margin}The given SavedModel SignatureDef contains the following {what}(s):")
        for key, info in sorted(infos.items()):
            print(f"{margin}  {what}s['{key}'] tensor_info:")
            _print_tensor_info(info, indent + 1)
    print(f"{margin}Method name is: {signature.method_name}")


def _print_tensor_info(info: Any, indent: int) -> None:
    margin = "  " * indent + "    "
    dims = [str(dim.size) for dim in info.tensor_shape.dim]
    print(f"{margin}dtype: {info.DESCRIPTOR.fields_by_name['dtype'].enum_type.values_by_number[info.dtype].name}")
    print(f"{margin}shape: " + ("unknown_rank" if info.tensor_shape.unknown_rank else f"({', '.join(dims)})"))
    print(f"{margin}name: {info.name}")


def _show_all(saved_model_dir: str) -> None:
    for tags in sorted(get_saved_model_tag_sets(saved_model_dir)):
        print(f"\nMetaGraphDef with tag-set: '{', '.join(tags)}' contains the following SignatureDefs:")
        tag_set = ",".join(tags)
        for key in sorted(get_meta_graph_def(saved_model_dir, tag_set).signature_def):
            print(f"\nsignature_def['{key}']:")
            _show_inputs_outputs(saved_model_dir, tag_set, key, indent=1)


def _signature(meta_graph: Any, key: str) -> Any:
    if key not in meta_graph.signature_def:
        raise ValueError(f'Could not find signature "{key}". Please choose from: {", ".join(meta_graph.signature_def)}')
    return meta_graph.signature_def[key]


# --- scan --------------------------------------------------------------------------------------------------------------


def scan(args: argparse.Namespace) -> None:
    """Print which MetaGraphs have ops that read or write files."""
    chosen = args.tag_set is not None
    for meta_graph in [get_meta_graph_def(args.dir, args.tag_set)] if chosen else read_saved_model(args.dir).meta_graphs:
        scan_meta_graph_def(meta_graph)


def scan_meta_graph_def(meta_graph_def: Any) -> None:
    """Print whether a MetaGraph has ops that read or write files."""
    tags = ",".join(meta_graph_def.meta_info_def.tags)
    nodes = [*meta_graph_def.graph_def.node]
    for function in meta_graph_def.graph_def.library.function:
        nodes += function.node_def
    found = sorted({node.op for node in nodes} & _DENYLISTED)
    if found:
        print(f"MetaGraph with tag set {tags} contains the following blacklisted ops: {', '.join(found)}")
    else:
        print(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


# --- run ---------------------------------------------------------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    """Run a signature and print what comes out. AttributeError without inputs."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError("At least one of --inputs, --input_exprs or --input_examples must be required")
    feeds = load_inputs_from_input_arg_string(args.inputs, args.input_exprs, args.input_examples)
    run_saved_model_with_feed_dict(args.dir, args.tag_set, args.signature_def, feeds, args.outdir, args.overwrite)


def run_saved_model_with_feed_dict(
    saved_model_dir: str,
    tag_set: str,
    signature_def_key: str,
    input_tensor_key_feed_dict: dict[str, Any],
    outdir: str | None,
    overwrite_flag: bool,
) -> None:
    """Run a signature on inputs by their keys, print its outputs, and write them to `outdir` if that is given.

    ValueError for another signature or input, RuntimeError where an output's file is there already.
    """
    signature = _signature(get_meta_graph_def(saved_model_dir, tag_set), signature_def_key)
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            choices = '", "'.join(signature.inputs)
            raise ValueError(f'"{key}" is not a valid input key. Please choose from "{choices}", or use --show option.')
    feeds = {signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()}
    fetches = {key: info.name for key, info in sorted(signature.outputs.items())}
    with Graph().as_default() as graph, Session(graph=graph) as session:
        SavedModelLoader(saved_model_dir).load(session, tag_set.split(","))
        results = session.run(fetches, feeds)
    for key, value in results.items():
        print(f"Result for output key {key}:\n{value}")
        if outdir:
            _write(Path(outdir) / f"{key}.npy", key, value, overwrite_flag)


def _write(path: Path, key: str, value: Any, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise RuntimeError(f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.')
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, value)
    print(f"Output {key} is saved to {path}")


def load_inputs_from_input_arg_string(
    inputs_str: str | None, input_exprs_str: str | None, input_examples_str: str | None
) -> dict[str, Any]:
    """{input key: value} of the three kinds of arguments; expressions go before files, and examples before both."""
    feeds = {}
    for key, (path, name) in preprocess_inputs_arg_string(inputs_str or "").items():
        feeds[key] = _read(path, name)
    for values in (
        preprocess_input_exprs_arg_string(input_exprs_str or ""),
        preprocess_input_examples_arg_string(input_examples_str or ""),
    ):
        for key, value in values.items():
            if key in feeds:
                print(f"input_key {key} has been specified with several options. The last one counts.")
            feeds[key] = value
    return feeds


def _read(path: str, name: str | None) -> Any:
    """The array in a file; in one of several arrays (.npz, the pickle of a dict), that of this name."""
    try:
        data = np.load(path, allow_pickle=True)
    except pickle.UnpicklingError as error:
        raise RuntimeError(f"Input file {path} is neither .npy, .npz nor a pickle.") from error
    if isinstance(data, np.ndarray):
        if name:
            _log.warning("Input file %s contains a single ndarray. Name key %r is ignored.", path, name)
        return data
    if not isinstance(data, Mapping):
        return data
    if not name and len(data) != 1:
        raise RuntimeError(f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to use.")
    if name and name not in data:
        raise RuntimeError(f"Input file {path} does not contain variable with name {name!r}.")
    return data[name or next(iter(data))]


def _parts(argument: str) -> Iterable[str]:
    return filter(bool, argument.split(";"))


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """{input key: (file, name of the array in it, or None)} of 'key=file[name];…'. RuntimeError for anything else."""
    found: dict[str, tuple[str, str | None]] = {}
    for part in _parts(inputs_str):
        match = re.fullmatch(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?", part)
        if match is None:
            raise RuntimeError(
                f'--inputs "{part}" format is incorrect. Please follow "<input_key>=<filename>", or '
                '"<input_key>=<filename>[<variable_name>]"'
            )
        found[match[1]] = match[2], match[3]
    return found


def preprocess_input_exprs_arg_string(input_exprs_str: str) -> dict[str, Any]:
    """{input key: value} of 'key=expression;…'. RuntimeError for anything else."""
    found = {}
    for key, expression in _keyed(input_exprs_str):
        try:
            found[key] = eval(expression, {"np": np, "numpy": np})  # the user's own, given to the user's own Python
        except Exception as error:
            raise RuntimeError(f'--input_exprs "{key}={expression}" cannot be computed: {error}') from error
    return found


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, list[bytes]]:
    """{input key: serialized tf.Examples} of 'key=[{feature: [values]}];…'. RuntimeError, ValueError for anything else."""
    found = {}
    for key, expression in _keyed(input_examples_str):
        try:
            examples = ast.literal_eval(expression)
        except (SyntaxError, ValueError) as error:
            raise RuntimeError(f'--input_examples "{key}={expression}" is no Python literal: {error}') from error
        if not isinstance(examples, list):
            raise ValueError(f'tf.Example input must be a list of dictionaries, but "{examples}" is {type(examples)}')
        found[key] = [_example(features) for features in examples]
    return found


def _keyed(argument: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in _parts(argument)]
    for key, equals, _ in pairs:
        if not equals:
            raise RuntimeError(f'--input_exprs "{key}" format is incorrect. Please follow "<input_key>=<python expression>"')
    return [(key, expression) for key, _, expression in pairs]


def _example(features: dict[str, Any]) -> bytes:
    example = Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        feature, first = example.features.feature[name], values[0] if values else 0.0
        if isinstance(first, (str, bytes)):
            feature.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        elif isinstance(first, float):
            feature.float_list.value.extend(values)
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(f"Type {type(first)} for value {first!r} is not supported for tf.train.Feature.")
    data: bytes = example.SerializeToString()
    return data


# --- arguments ---------------------------------------------------------------------------------------------------------


def create_parser() -> argparse.ArgumentParser:
    """The parser of its arguments: `parser.parse_args(…).func` is what to call with them."""
    parser = argparse.ArgumentParser(
        prog="saved_model_cli", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(title="commands", required=True)
    for function, says in (
        (show, "what is in a SavedModel"),
        (run, "a signature of it on given inputs"),
        (scan, "ops in it that read or write files"),
    ):
        command = commands.add_parser(function.__name__, help=says, description=says)
        command.add_argument("--dir", required=True, help="the SavedModel's folder")
        command.add_argument("--tag_set", required=function is run, help="a MetaGraph's tags, joined by commas")
        command.set_defaults(func=function)
        if function is show:
            command.add_argument("--all", action="store_true", help="everything")
        if function is not scan:
            command.add_argument("--signature_def", required=function is run, metavar="KEY", help="a signature's key")
        if function is run:
            command.add_argument("--inputs", default="", help="'key=file[name];…': arrays in files")
            command.add_argument("--input_exprs", default="", help="'key=expression;…': Python expressions")
            command.add_argument("--input_examples", default="", help="'key=[{feature: [values]}];…': tf.Examples")
            command.add_argument("--outdir", help="write each output as a .npy file there")
            command.add_argument("--overwrite", action="store_true", help="over files that are there")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for; the exit status is 1 where that cannot be."""
    args = create_parser().parse_args(argv)
    try:
        args.func(args)
    except (AttributeError, OSError, RuntimeError, ValueError) as error:
        print(f"saved_model_cli: {error}", file=sys.stderr)
        return 1
    except OpError as error:
        print(f"saved_model_cli: {error.message}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
