"""`tf.contrib`: the parts that tfexp has."""

from tfexp.core.gone import missing_from

__getattr__ = missing_from(
    "tf.contrib",
    {
        name: f"tfexp.api.contrib.{name}"
        for name in (
            "crf",
            "cudnn_rnn",
            "data",
            "deprecated",
            "distribute",
            "distributions",
            "eager",
            "estimator",
            "feature_column",
            "framework",
            "graph_editor",
            "image",
            "integrate",
            "layers",
            "learn",
            "legacy_seq2seq",
            "lookup",
            "losses",
            "metrics",
            "nn",
            "opt",
            "predictor",
            "resampler",
            "rnn",
            "saved_model",
            "seq2seq",
            "slim",
            "solvers",
            "staging",
            "stateless",
            "summary",
            "tensorboard",
            "tpu",
            "training",
            "util",
        )
    },
)
