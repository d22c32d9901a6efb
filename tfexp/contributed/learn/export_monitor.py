"""A monitor that exports what is trained. Source: `tf.contrib.learn.monitors.ExportMonitor`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp import estimator as core
from tfexp.contributed.learn.bundling import SignatureFn
from tfexp.contributed.learn.monitors import EveryN
from tfexp.contributed.session_bundles import AlreadyExportedError
from tfexp.core.log import get_logger
from tfexp.formats.checkpoint_state import latest_checkpoint

_log = get_logger()


class ExportMonitor(EveryN):
    """Writes session bundles of the newest checkpoint, each once: every `every_n_steps` steps, and at the end.

    input_fn: gives (features, labels) to predict from; `input_feature_key` is the feature with the serialized Examples that
    are fed. Without it the estimator parses Examples, `default_batch_size` at a time. Of the bundles the newest
    `exports_to_keep` stay (None: all). ValueError where an estimator of `tf.estimator` is trained.
    """

    def __init__(
        self,
        every_n_steps: int,
        export_dir: str,
        input_fn: Callable[[], Any] | None = None,
        input_feature_key: str | None = None,
        exports_to_keep: int | None = 5,
        signature_fn: SignatureFn | None = None,
        default_batch_size: int | None = 1,
    ):
        super().__init__(every_n_steps)
        self._export_dir, self._exports_to_keep, self._signature_fn = export_dir, exports_to_keep, signature_fn
        self._input = {
            "input_fn": input_fn,
            "input_feature_key": input_feature_key,
            "use_deprecated_input_fn": input_fn is None,
            "default_batch_size": default_batch_size,
        }
        self._last_export_dir: bytes | None = None

    @property
    def export_dir(self) -> str:
        return self._export_dir

    @property
    def exports_to_keep(self) -> int | None:
        return self._exports_to_keep

    @property
    def signature_fn(self) -> SignatureFn | None:
        return self._signature_fn

    @property
    def last_export_dir(self) -> bytes | None:
        """The newest bundle's folder, None before there is one."""
        return self._last_export_dir

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        self._export()
        return False

    def end(self, session: Any = None) -> None:
        super().end(session)
        if latest_checkpoint(self._estimator.model_dir) is None:
            _log.info("There is no checkpoint to export at the end.")
        else:
            self._export()

    def _export(self) -> None:
        if isinstance(self._estimator, core.Estimator):
            raise ValueError(
                "ExportMonitor does not support estimators of tf.estimator: give an Experiment an ExportStrategy instead."
            )
        try:
            self._last_export_dir = self._estimator.export(
                self._export_dir, exports_to_keep=self._exports_to_keep, signature_fn=self._signature_fn, **self._input
            )
        except AlreadyExportedError:
            _log.info("The newest checkpoint has been exported before: there is nothing to export.")
