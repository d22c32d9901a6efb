"""`tf.estimator.ModeKeys`: what a model function is asked to build. Source: TF 1.15."""


class ModeKeys:
    """The values of a model function's `mode`; also the keys of what `Estimator` exports."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
