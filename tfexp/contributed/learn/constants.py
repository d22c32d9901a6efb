"""Names of tasks, predictions and kinds of problems in `tf.contrib.learn`. Source: TF 1.15."""


class TaskType:
    """Kinds of tasks in a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class PredictionKey:
    """What predictions are called."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class ProblemType:
    """Kinds of problems that models solve."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3
