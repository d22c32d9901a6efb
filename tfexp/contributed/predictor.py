"""`tf.contrib.predictor`: functions of arrays made of saved models and of estimators. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfexp.estimator.modes import ModeKeys
from tfexp.graph.graph import Graph
from tfexp.runtime.session import Session
from tfexp.train import saved_model_names as names
from tfexp.train.global_step import create_global_step
from tfexp.train.monitored_session import MonitoredSession
from tfexp.train.saved_model_loader import SavedModelLoader
from tfexp.train.session_creators import ChiefSessionCreator


class Predictor:
    """A graph, the session that runs it, and which of its tensors are fed and fetched by which names."""

    def __init__(self, graph: Graph, session: Any, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]):
        self._graph, self._session = graph, session
        self._feed_tensors, self._fetch_tensors = dict(feed_tensors), dict(fetch_tensors)

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def session(self) -> Any:
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        return self._fetch_tensors

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs for these inputs, arrays by name. ValueError for names that the model does not have as inputs."""
        unknown = sorted(set(input_dict) - set(self._feed_tensors))
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unknown}; the model's inputs are {sorted(self._feed_tensors)}"
            )
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items()}
        found: dict[str, Any] = self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)
        return found

    def __repr__(self) -> str:
        return f"Predictor with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | Iterable[str] | None = None,
    graph: Graph | None = None,
    config: Any = None,
) -> Predictor:
    """A predictor of the saved model in a folder.

    What is fed and fetched: the signature of that key ("serving_default" if None), another SignatureDef, or both
    `input_names` and `output_names`, {name: the tensor's name}. tags: of the graph ("serve"; several with commas between).
    ValueError for more than one of these and for a signature that is not there.
    """
    by_name = input_names is not None or output_names is not None
    if sum((signature_def_key is not None, signature_def is not None, by_name)) > 1:
        raise ValueError("signature_def_key, signature_def, and input_names with output_names exclude each other: give one")
    if by_name and not (input_names and output_names):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    wanted = [names.SERVING] if tags is None else tags.split(",") if isinstance(tags, str) else list(tags)
    graph = graph or Graph()
    with graph.as_default():
        session = Session(config=config)
        meta_graph = SavedModelLoader(export_dir).load(session, wanted)
    if input_names is None or output_names is None:
        key = signature_def_key or names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if signature_def is None:
            if key not in meta_graph.signature_def:
                have = sorted(meta_graph.signature_def)
                raise ValueError(f"the saved model in {export_dir} has no signature {key!r}; it has {have}")
            signature_def = meta_graph.signature_def[key]
        input_names = {name: info.name for name, info in signature_def.inputs.items()}
        output_names = {name: info.name for name, info in signature_def.outputs.items()}
    feeds, fetches = ({key: graph.get_tensor_by_name(name) for key, name in d.items()} for d in (input_names, output_names))
    return Predictor(graph, session, feeds, fetches)


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Graph | None = None,
    config: Any = None,
) -> Predictor:
    """A predictor of an estimator as trained so far.

    Inputs are what `serving_input_receiver_fn` receives, outputs those of the export output `output_key` (the default one if
    None). ValueError where there is none of that key.
    """
    graph = graph or Graph()
    with graph.as_default():
        create_global_step(graph)
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
        outputs = spec.export_outputs or {}
        key = output_key or names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if key not in outputs:
            raise ValueError(f"the model has no export output {key!r}; it has {sorted(outputs)}")
        signature = outputs[key].as_signature_def(receiver.receiver_tensors)
        fetches = {name: graph.get_tensor_by_name(info.name) for name, info in signature.outputs.items()}
        path = estimator.latest_checkpoint()
        session = MonitoredSession(ChiefSessionCreator(spec.scaffold, config=config, checkpoint_filename_with_path=path))
    return Predictor(graph, session, receiver.receiver_tensors, fetches)
