"""A callback, and the list of callbacks that a loop calls. Source: `tf.keras.callbacks.Callback`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Logs = dict[str, Any]


class Callback:
    """Called as a model is trained, tested or asked for predictions; every method does nothing here.

    `model` and `params` (`batch_size`, `epochs`, `steps`, `samples`, `verbose`, `do_validation`, `metrics`) are set before
    the first call. `logs` holds the numbers so far: at the end of a batch `batch`, `size` and the metrics, at the end of an
    epoch the metrics, those of validation as `val_…`; a callback may add to it for those that come after it.
    """

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def set_model(self, model: Any) -> None:
        self.model = model

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """The older name of `on_train_batch_begin`, which calls it."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """The older name of `on_train_batch_end`, which calls it."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Of training only; `epoch` counts from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Of training only, after validation."""

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Of validation too."""

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Of validation too."""

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None: ...

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """`logs["outputs"]` has the batch's predictions."""

    def on_train_begin(self, logs: Logs | None = None) -> None: ...

    def on_train_end(self, logs: Logs | None = None) -> None: ...

    def on_test_begin(self, logs: Logs | None = None) -> None: ...

    def on_test_end(self, logs: Logs | None = None) -> None: ...

    def on_predict_begin(self, logs: Logs | None = None) -> None: ...

    def on_predict_end(self, logs: Logs | None = None) -> None: ...


_OLDER_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}


def _does_nothing(callback: Any, hook: str) -> bool:
    """Whether a hook is the one of `Callback`, so that calling it each batch would be for nothing."""
    if hook in vars(callback):
        return False
    inherited = getattr(type(callback), hook, None) is getattr(Callback, hook)
    return inherited and (hook not in _OLDER_NAMES or _does_nothing(callback, _OLDER_NAMES[hook]))


class CallbackList:
    """Callbacks called in order. Hooks of batches that a callback does not have cost nothing."""

    def __init__(self, callbacks: Iterable[Any] | None = None):
        self.callbacks = list(callbacks or ())
        self.params: dict[str, Any] = {}
        self.model: Any = None
        self._of_batches: dict[str, list[Callable[..., Any]]] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def append(self, callback: Any) -> None:
        self.callbacks.append(callback)
        self._of_batches.clear()

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def _batch(self, hook: str, batch: int, logs: Logs | None) -> None:
        called = self._of_batches.get(hook)
        if called is None:
            called = [getattr(callback, hook) for callback in self.callbacks if not _does_nothing(callback, hook)]
            self._of_batches[hook] = called
        for call in called:
            call(batch, {} if logs is None else logs)

    def _each(self, hook: str, *args: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, hook)(*args)

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_train_batch_begin", batch, logs)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_train_batch_end", batch, logs)

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_train_batch_begin", batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_train_batch_end", batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_test_batch_begin", batch, logs)

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_test_batch_end", batch, logs)

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_predict_batch_begin", batch, logs)

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        self._batch("on_predict_batch_end", batch, logs)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._each("on_epoch_begin", epoch, {} if logs is None else logs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self._each("on_epoch_end", epoch, {} if logs is None else logs)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._each("on_train_begin", logs)

    def on_train_end(self, logs: Logs | None = None) -> None:
        self._each("on_train_end", logs)

    def on_test_begin(self, logs: Logs | None = None) -> None:
        self._each("on_test_begin", logs)

    def on_test_end(self, logs: Logs | None = None) -> None:
        self._each("on_test_end", logs)

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        self._each("on_predict_begin", logs)

    def on_predict_end(self, logs: Logs | None = None) -> None:
        self._each("on_predict_end", logs)


class LambdaCallback(Callback):
    """A callback of plain functions: `on_epoch_end=lambda epoch, logs: …`; None does nothing.

    Functions of an epoch or a batch take its number and the logs, those of training the logs alone.
    """

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_batch_begin: Callable[..., Any] | None = None,
        on_batch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__()
        self.__dict__.update(kwargs)
        given: Mapping[str, Callable[..., Any] | None] = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        self.__dict__.update({hook: function for hook, function in given.items() if function is not None})
