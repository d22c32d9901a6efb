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
            "opt",
            "predictor",
            "resampler",
            "rnn",
            "seq2seq",
            "slim",
            "staging",
            "stateless",
            "summary",
            "tensorboard",
            "training",
            "util",
        )
    },
)
