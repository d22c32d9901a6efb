"""`tf.contrib.learn.RunConfig`: settings of a run with the arguments of contrib's time. Source: TF 1.15."""

from __future__ import annotations

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tfexp import estimator


class RunConfig(estimator.RunConfig):
    """`tf.estimator.RunConfig` with arguments for the session: threads, logging of devices, memory of GPUs.

    session_config: in the place of those. master and evaluation_master come of TF_CONFIG; arguments for them are taken where
    they agree with it. ValueError for others.
    """

    _USE_DEFAULT = 0

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: ConfigProto | None = None,
        session_creation_timeout_secs: float = 7200,
    ):
        if session_config is None:
            session_config = ConfigProto(
                log_device_placement=log_device_placement,
                inter_op_parallelism_threads=num_cores,
                intra_op_parallelism_threads=num_cores,
            )
            session_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        if save_checkpoints_secs == self._USE_DEFAULT:
            save_checkpoints_secs = None if save_checkpoints_steps is not None else 600
        super().__init__(
            model_dir,
            tf_random_seed,
            save_summary_steps,
            save_checkpoints_steps,
            save_checkpoints_secs,
            session_config,
            keep_checkpoint_max,
            keep_checkpoint_every_n_hours,
            log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        for name, given, known in (
            ("master", master, self.master),
            ("evaluation_master", evaluation_master, self.evaluation_master),
        ):
            if given not in (None, "", known):
                raise ValueError(f"{name} of this task is {known!r}: {given!r}")
