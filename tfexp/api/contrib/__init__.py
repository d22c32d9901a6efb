"""`tf.contrib`: the parts that tfexp has."""

from tfexp.core.gone import missing_from

__getattr__ = missing_from(
    "tf.contrib",
    {
        name: f"tfexp.api.contrib.{name}"
        for name in (
            "crf",
            "data",
            "distributions",
            "eager",
            "estimator",
            "feature_column",
            "framework",
            "graph_editor",
            "image",
            "layers",
            "learn",
            "legacy_seq2seq",
            "lookup",
            "losses",
            "metrics",
            "opt",
            "rnn",
            "seq2seq",
            "slim",
            "tensorboard",
            "training",
            "util",
        )
    },
)
