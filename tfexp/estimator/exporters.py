"""`tf.estimator.Exporter` and its kinds: which of the models that were evaluated are exported. Source: TF 1.15."""

from __future__ import annotations

import abc
import glob
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from tfexp.core.log import get_logger
from tfexp.estimator.arguments import argument_names, unexpected
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.eval_metrics import metrics_of_files
from tfexp.estimator.saved_models import timestamped

_log = get_logger()
_LOSS = "loss"


class Exporter(abc.ABC):
    """Told of every evaluation, it exports the model or does not."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of its folder below the model's `export`."""

    @abc.abstractmethod
    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> Any:
        """Below the folder `export_path`: the path of what was exported, or None."""


class _SavedModelExporter(Exporter):
    """Writes SavedModels; keeps the newest `_keep` of them, None: all."""

    _keep: int | None = None

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
    ):
        self._name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets_extra, self._as_text = assets_extra, as_text

    @property
    def name(self) -> str:
        return self._name

    def _write(self, estimator: Estimator, export_path: str, checkpoint_path: str) -> bytes:
        if self._receiver_fn is None:
            raise ValueError(f"The exporter {self._name!r} needs a serving_input_receiver_fn to export with.")
        path = estimator.export_saved_model(
            export_path, self._receiver_fn, self._assets_extra, self._as_text, checkpoint_path
        )
        remove_older_exports(export_path, self._keep)
        return path


class FinalExporter(_SavedModelExporter):
    """Exports once, at the end of the training."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> bytes | None:
        if not is_the_final_export:
            return None
        _log.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModelExporter):
    """Exports every time, and keeps the newest `exports_to_keep` (None: all)."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._keep = _checked_count(exports_to_keep)

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> bytes:
        return self._write(estimator, export_path, checkpoint_path)


def loss_smaller(best_eval_result: Any, current_eval_result: Any) -> bool:
    """Whether the second has the smaller loss. ValueError where one has none."""
    for name, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or _LOSS not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it. Given: {result}")
    return bool(best_eval_result[_LOSS] > current_eval_result[_LOSS])


class BestExporter(_SavedModelExporter):
    """Exports a model that is better than those before, and keeps the newest `exports_to_keep` (None: all).

    `compare_fn(best_eval_result, current_eval_result)` says whether the second is better, by default by the smaller loss.
    The best before is also looked for in the files `event_file_pattern` of the model's folder, of a training before.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._keep = _checked_count(exports_to_keep)
        self._is_better = _checked_compare_fn(compare_fn)
        self._pattern = event_file_pattern
        self._best: Mapping[str, Any] | None = None
        self._looked = False

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> bytes | None:
        if not self._looked:
            self._looked = True
            self._best = self._best_before(estimator, eval_result)
        if self._best is not None and not self._is_better(best_eval_result=self._best, current_eval_result=eval_result):
            return None
        _log.info("Performing best model export.")
        self._best = eval_result
        return self._write(estimator, export_path, checkpoint_path)

    def _best_before(self, estimator: Estimator, eval_result: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The best evaluation that the event files have, without the one that is looked at."""
        if not self._pattern:
            return None
        _log.info("Loading best metric from event files.")
        files = sorted(glob.glob(os.path.join(estimator.model_dir, self._pattern)))
        best: Mapping[str, Any] | None = None
        for step, metrics in metrics_of_files(files).items():
            now = step == eval_result.get("global_step")
            if not now and (best is None or self._is_better(best_eval_result=best, current_eval_result=metrics)):
                best = metrics
        return best


def remove_older_exports(export_path: str, exports_to_keep: int | None) -> None:
    """Remove all exports below a folder but the newest `exports_to_keep` (None: none)."""
    if exports_to_keep is not None:
        for old in timestamped(export_path)[:-exports_to_keep]:
            shutil.rmtree(old)


def _checked_count(exports_to_keep: int | None) -> int | None:
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
    return exports_to_keep


def _checked_compare_fn(compare_fn: Any) -> Callable[..., bool]:
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    required = ("best_eval_result", "current_eval_result")
    for name in required:
        if name not in argument_names(compare_fn):
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    strange = unexpected(compare_fn, required)
    if strange:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {strange}")
    return compare_fn  # type: ignore[no-any-return]
