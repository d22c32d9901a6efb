"""`tf.contrib`: the parts that tfexp has."""

from tfexp.core.gone import missing_from

__getattr__ = missing_from(
    "tf.contrib",
    {
        name: f"tfexp.api.contrib.{name}"
        for name in (
            "crf",
            "data",
            "distribute",
            "distributions",
            "eager",
            "estimator",
            "feature_column",
            "framework",
            "layers",
            "learn",
            "legacy_seq2seq",
            "lookup",
            "losses",
            "metrics",
            "rnn",
            "seq2seq",
            "slim",
            "tensorboard",
            "training",
            "util",
        )
    },
)
