"""All that was dumped of one step: its values, by node and in time, and its nodes."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tfexp.debug.graphs import DumpedGraph
from tfexp.debug.tensors import DebugTensorDatum
from tfexp.formats import debug_dump
from tfexp.graph.graph import Graph

Predicate = Callable[[DebugTensorDatum, Any], bool]


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """A dump has nothing under a watch key (`node:slot:debug op`). Source: tf_debug."""


class CoreMetadata(NamedTuple):
    """What was run: which run of the session, which of these fetches and feeds, and these (names, sorted)."""

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


class DebugDumpDir:
    """The dump of a step in the folder `dump_root`. Source: `tf_debug.DebugDumpDir`.

    `partition_graphs`: GraphDefs (of RunMetadata), for devices whose nodes are not in the dump. With `validate` each dumped
    value must be that of a node of its device. A method that takes `device_name` looks at that device only; without one,
    the node must be on one device. OSError if there is no such folder, ValueError for values of unknown nodes.
    """

    def __init__(self, dump_root: str, partition_graphs: Iterable[Any] | None = None, validate: bool = True):
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._root = dump_root
        self._graphs: dict[str, DumpedGraph] = {}
        self._data: dict[str, list[DebugTensorDatum]] = {}
        self._python_graph: Graph | None = None
        names = sorted(os.listdir(dump_root))
        self._core_metadata = [self._metadata(name) for name in names if name.startswith(debug_dump.CORE_METADATA)]
        for folder in filter(debug_dump.is_folder_of_device, names):
            self._load_device(folder)
        for graph_def in partition_graphs or ():
            for device in {node.device for node in graph_def.node if node.device in self._data} - self._graphs.keys():
                self._graphs[device] = DumpedGraph(graph_def)
        if validate:
            self._validate()
        self._by_key = {device: _by_watch_key(data) for device, data in self._data.items()}

    def _metadata(self, name: str) -> CoreMetadata:
        known = json.loads(self._message(name))
        return CoreMetadata(*(known[field] for field in CoreMetadata._fields))

    def _message(self, name: str) -> str:
        message: str = debug_dump.read_event(os.path.join(self._root, name)).log_message.message
        return message

    def _load_device(self, folder: str) -> None:
        device, data = debug_dump.device_of_folder(folder), []
        for path, _, files in os.walk(os.path.join(self._root, folder)):
            for file in files:
                full = os.path.join(path, file)
                if file.startswith(debug_dump.GRAPH):
                    self._graphs[device] = DumpedGraph(GraphDef.FromString(debug_dump.read_event(full).graph_def))
                else:
                    data.append(DebugTensorDatum(self._root, os.path.relpath(full, self._root)))
        self._data[device] = sorted(data, key=lambda datum: (datum.timestamp, datum.extended_timestamp))

    def _validate(self) -> None:
        for device, graph in self._graphs.items():
            for datum in self._data[device]:
                if datum.node_name not in graph.nodes:
                    raise ValueError(f"Node name '{datum.node_name}' is not found in partition graphs of device {device}.")

    @property
    def core_metadata(self) -> Any:
        """What was run: a CoreMetadata; a list of them if the folder has several; None if it has none."""
        return self._core_metadata if len(self._core_metadata) > 1 else next(iter(self._core_metadata), None)

    @property
    def run_fetches_info(self) -> Any:
        """The fetches, as text; None if it was not kept."""
        return self._info(debug_dump.FETCHES_INFO)

    @property
    def run_feed_keys_info(self) -> Any:
        """The fed keys, as text; None if it was not kept."""
        return self._info(debug_dump.FEED_KEYS_INFO)

    def _info(self, name: str) -> str | None:
        return self._message(name) if os.path.exists(os.path.join(self._root, name)) else None

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """Everything, in the order of time, device by device."""
        return [datum for data in self._data.values() for datum in data]

    @property
    def t0(self) -> int | None:
        """When the first value came up, in microseconds since 1970."""
        return min((datum.timestamp for datum in self.dumped_tensor_data), default=None)

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.dumped_tensor_data)

    # Values

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> list[DebugTensorDatum]:
        """What was dumped under `node:slot:debug op`, in the order of time. ValueError if several devices have some."""
        found = {
            device: data[debug_watch_key]
            for device, data in self._by_key.items()
            if debug_watch_key in data and device_name in (None, device)
        }
        if len(found) > 1:
            raise ValueError(f"There are multiple ({len(found)}) devices with {debug_watch_key}: give device_name.")
        return next(iter(found.values()), [])

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The watch keys of a node."""
        device = self._device_of(node_name, device_name)
        return [key for key, data in self._by_key.get(device, {}).items() if data[0].node_name == node_name]

    def find(
        self,
        predicate: Predicate,
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """What `predicate(datum, value)` says yes to, in the order of time; at most `first_n` if that is positive.

        Nodes whose names match the pattern `exclude_node_names` are left out.
        """
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found: list[DebugTensorDatum] = []
        for datum in self.dumped_tensor_data if device_name is None else self._data[device_name]:
            if excluded is not None and excluded.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if len(found) == first_n:
                    break
        return found

    def _dumped(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None) -> list[DebugTensorDatum]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        data = self.watch_key_to_data(key, device_name)
        if not data:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device_name}'
            )
        return data

    def get_tensors(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None) -> list[Any]:
        """The values of an output. WatchKeyDoesNotExistInDebugDumpDirError if it was not dumped; also of the next three."""
        return [datum.get_tensor() for datum in self._dumped(node_name, output_slot, debug_op, device_name)]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[str]:
        """The files of an output's values."""
        return [datum.file_path for datum in self._dumped(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """When an output's values came up, in microseconds since `t0`."""
        start = self.t0 or 0
        return [datum.timestamp - start for datum in self._dumped(node_name, output_slot, debug_op, device_name)]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int | None]:
        """How long the files of an output's values are."""
        return [datum.dump_size_bytes for datum in self._dumped(node_name, output_slot, debug_op, device_name)]

    # Nodes

    def loaded_partition_graphs(self) -> bool:
        """Whether the nodes are known."""
        return bool(self._graphs)

    def partition_graphs(self) -> list[Any]:
        """The GraphDefs of the devices, with the nodes that dump. LookupError if there are none; also of the next ones."""
        return [graph.retained for graph in self._known_graphs().values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, GraphDef]:
        """The GraphDef of each device, without the nodes that dump."""
        return {device: graph.reconstructed for device, graph in self._known_graphs().items()}

    def devices(self) -> list[str]:
        """The devices."""
        return list(self._data)

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of the nodes. ValueError for a device that is not there."""
        graphs = self._known_graphs()
        if device_name is None:
            return [name for graph in graphs.values() for name in graph.nodes]
        if device_name not in graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        return list(graphs[device_name].nodes)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether there is such a node. ValueError for a device that is not there."""
        graphs = self._known_graphs()
        if device_name is not None and device_name not in graphs:
            raise ValueError(f"The specified device_name '{device_name}' cannot be found.")
        return any(node_name in graph.nodes for device, graph in graphs.items() if device_name in (None, device))

    def node_device(self, node_name: str) -> Any:
        """The device of a node, or a list of them. ValueError for a node that is not there; also of the next ones."""
        devices = [device for device, graph in self._known_graphs().items() if node_name in graph.nodes]
        if not devices:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return devices[0] if len(devices) == 1 else devices

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The type of a node."""
        op_type: str = self._graph_of(node_name, device_name).nodes[node_name].op
        return op_type

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Any:
        """The attributes of a node: name to AttrValue."""
        return self._graph_of(node_name, device_name).nodes[node_name].attr

    def node_inputs(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """What a node reads, or the nodes that it waits for."""
        return self._graph_of(node_name, device_name).inputs(node_name, is_control)

    def node_recipients(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """The nodes that read what a node makes, or that wait for it."""
        return self._graph_of(node_name, device_name).recipients(node_name, is_control)

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """All nodes before a node, each once, depth first. NotImplementedError for `include_reversed_ref`."""
        _refuse_reversed(include_reversed_ref)
        return self._graph_of(node_name, device_name).ancestors(node_name, include_control)

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """A path of nodes of one device from one to another; None if there is none.

        NotImplementedError for `include_reversed_ref`.
        """
        _refuse_reversed(include_reversed_ref)
        source = self._device_of(src_node_name, device_name)
        if self._device_of(dst_node_name, device_name) != source:
            return None
        return self._graphs[source].path(src_node_name, dst_node_name, include_control)

    def _known_graphs(self) -> dict[str, DumpedGraph]:
        if not self._graphs:
            raise LookupError("No partition graphs have been loaded.")
        return self._graphs

    def _graph_of(self, node_name: str, device_name: str | None) -> DumpedGraph:
        return self._graphs[self._device_of(node_name, device_name)]

    def _device_of(self, node_name: str, device_name: str | None) -> str:
        """The one device (which may be given) that has the node."""
        graphs = self._known_graphs()
        if device_name is not None:
            if not self.node_exists(node_name, device_name):
                raise ValueError(f"The device '{device_name}' has no node named '{node_name}'.")
            return device_name
        devices = [device for device, graph in graphs.items() if node_name in graph.nodes]
        if not devices:
            raise ValueError(f"None of the {len(graphs)} device(s) has a node named '{node_name}'.")
        if len(devices) > 1:
            raise ValueError(
                f"There are multiple ({len(devices)}) devices with nodes named '{node_name}': give device_name."
            )
        return devices[0]

    # The program

    @property
    def python_graph(self) -> Graph | None:
        """The graph that was run, if it was given."""
        return self._python_graph

    def set_python_graph(self, python_graph: Graph) -> None:
        """Let `node_traceback` ask this graph."""
        self._python_graph = python_graph

    def node_traceback(self, element_name: str) -> Any:
        """Where a node, or the node of a tensor, was made: see `tf.Operation.traceback`.

        LookupError without a graph, KeyError for a node that it has not.
        """
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        return self._python_graph.get_operation_by_name(element_name.partition(":")[0]).traceback


def _by_watch_key(data: Iterable[DebugTensorDatum]) -> dict[str, list[DebugTensorDatum]]:
    found = defaultdict(list)
    for datum in data:
        found[datum.watch_key].append(datum)
    return dict(found)


def _refuse_reversed(include_reversed_ref: bool) -> None:
    if include_reversed_ref:
        raise NotImplementedError("include_reversed_ref: what is written to a variable is not followed")
