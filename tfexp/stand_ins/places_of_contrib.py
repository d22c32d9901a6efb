"""The rows of the table of stand-ins (`places`) for `tensorflow.contrib` and what else is neither `python` nor `core`."""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed
from tfexp.stand_ins.places_of_estimator import ESTIMATOR, SERIES, SERIES_ROOM
from tfexp.stand_ins.places_of_keras import published
from tfexp.stand_ins.places_of_tools import TPU
from tfexp.stand_ins.places_of_training import ALL_REDUCE

_OPTIMIZERS = "adadelta adagrad adam gradient_descent momentum optimizer_v2 optimizer_v2_symbols rmsprop"
_GRAPH_EDITOR = "edit reroute select subgraph transform util"
# tensorflow.<key>, for modules in neither `python` nor `core`.
OTHERS = {
    "contrib.all_reduce.python.all_reduce": ALL_REDUCE,
    **{f"contrib.graph_editor.{name}": "tf.contrib.graph_editor" for name in _GRAPH_EDITOR.split()},
    "contrib.image.ops.gen_image_ops": "ops",
    **published("contrib.keras.api.keras"),
    "contrib.learn.python.learn.datasets.base": "tfexp.stand_ins.mnist tf.contrib.learn.datasets.base",
    "contrib.learn.python.learn.datasets.mnist": "tfexp.stand_ins.mnist",
    "contrib.learn.python.learn.estimators.dynamic_rnn_estimator": "tfexp.contributed.learn.dynamic_rnn",
    "contrib.learn.python.learn.estimators.metric_key": "tfexp.contributed.learn.heads.metrics",
    "contrib.learn.python.learn.estimators.rnn_common": "tfexp.contributed.learn.recurrent_parts",
    "contrib.learn.python.learn.utils.export": "tf.contrib.learn.utils.export",
    "contrib.learn.python.learn.utils.gc": "tf.contrib.learn.utils.gc",
    "contrib.lookup.lookup_ops": "tf.contrib.lookup",
    **{f"contrib.optimizer_v2.{name}": "tf.contrib.optimizer_v2" for name in _OPTIMIZERS.split()},
    **{f"contrib.predictor.{name}": "tf.contrib.predictor" for name in ("predictor", "predictor_factories")},
    "contrib.receptive_field.receptive_field_api": "tf.contrib.receptive_field",
    "contrib.resampler.ops.gen_resampler_ops": renamed("tf.contrib.resampler", resampler="resampler"),
    "contrib.seq2seq.ops.gen_beam_search_ops": "ops",
    "contrib.session_bundle.constants": "tfexp.contributed.session_bundles",
    "contrib.session_bundle.exporter": "tfexp.contributed.session_bundles",
    "contrib.session_bundle.gc": "tfexp.contributed.export_versions",
    "contrib.session_bundle.manifest_pb2": "tfexp.formats.protos.session_bundle",
    "contrib.summary.summary": "tf.contrib.summary",
    "contrib.tensorboard.plugins.projector.projector_config_pb2": "tf.contrib.tensorboard.plugins.projector",
    "contrib.testing.python.framework.fake_summary_writer": "tfexp.stand_ins.fake_summary_writer",
    "contrib.tfprof.tfprof_logger": "tf.profiler",
    "contrib.util.loader": renamed("tf", load_op_library="load_op_library"),
    "examples.tutorials.mnist.input_data": "tfexp.stand_ins.mnist",
    "examples.tutorials.mnist.mnist": "tfexp.stand_ins.mnist_model",
    "lite.python.convert": "tfexp.lite.converter tf.lite",
    "lite.python.interpreter": "tf.lite",
    "lite.python.lite": "tf.lite",
    "lite.python.lite_constants": "tf.lite.constants",
    "lite.python.tflite_convert": "tfexp.tflite_convert",
    "tools.common.public_api": "tfexp.stand_ins.api_traversal",
    "tools.common.traverse": "tfexp.stand_ins.api_traversal",
    "tools.compatibility.all_renames_v2": "tfexp.stand_ins.later_names",
    "tools.docs.doc_controls": "tfexp.stand_ins.doc_controls",
    "tools.graph_transforms": "tfexp.train.graph_transforms",
}

_ATTENTION = (
    "tf.contrib.seq2seq "
    + renamed("tfexp.contributed.attention", _BaseAttentionMechanism="MemoryAttention", _maybe_mask_score="masked_score")
    + renamed("tfexp.contributed.attention", _bahdanau_score="bahdanau_score", _luong_score="luong_score")
    + renamed("tfexp.contributed.attention", _prepare_memory="prepared_memory")
    + renamed("tfexp.contributed.attention_wrapper", _compute_attention="attend")
    + renamed("tfexp.contributed.monotonic_attention", _BaseMonotonicAttentionMechanism="MonotonicMemoryAttention")
    + renamed("tfexp.contributed.monotonic_attention", _monotonic_probability_fn="monotonic_probabilities")
    + "tfexp.stand_ins.rnn_cells"
)
# Modules within `tensorflow.contrib` whose names are not those of the library they are in.
CONTRIB = {
    "contrib.estimator.python.estimator.early_stopping": ESTIMATOR["early_stopping"],
    "contrib.framework.python.ops.audio_ops": "tf.audio ops",
    "contrib.layers.python.layers.utils": "tfexp.contributed.layer_utilities tf.contrib.layers",
    **{
        f"contrib.slim.python.slim.data.{name}": f"tfexp.contributed.slim_data.{name}"
        for name in ("data_decoder", "data_provider", "dataset", "dataset_data_provider", "parallel_reader")
    },
    "contrib.quantize.python.graph_matcher": "tfexp.contributed.quantize.patterns",
    "contrib.seq2seq.python.ops.attention_wrapper": _ATTENTION,
    "contrib.seq2seq.python.ops.decoder": "tf.contrib.seq2seq tfexp.layers.rnn_dynamic:_transpose_batch_time=transposed",
    "contrib.slim.python.slim.data.prefetch_queue": "tfexp.contributed.slim_data.prefetch_queue",
    "contrib.slim.python.slim.data.tfexample_decoder": "tfexp.contributed.slim_data.tfexample_decoder",
    **{
        f"contrib.slim.python.slim.nets.{name}": f"tf.contrib.slim.nets.{name}"
        for name in (
            *("alexnet", "inception", "inception_v1", "inception_v2", "inception_v3"),
            *("overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"),
        )
    },
    "contrib.slim.python.slim.queues": "tfexp.contributed.slim_data.queues",
    **{f"contrib.timeseries.python.timeseries.{key}": places for key, places in SERIES.items()},
    "contrib.timeseries.python.timeseries.input_pipeline": f"{SERIES_ROOM}.readers {SERIES_ROOM}.windows "
    f"{SERIES_ROOM}.continuing",
    "contrib.tpu.python.ops.tpu_ops": TPU["tpu.ops.tpu_ops"],
    **{f"contrib.tpu.python.{key}": places for key, places in TPU.items() if key.count(".") == 1},
}
