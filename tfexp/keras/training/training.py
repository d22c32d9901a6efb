"""`Training`: `compile`, `fit`, `evaluate`, `predict` and what belongs to them. Source: `tf.keras.Model`, TF 1.15.

What data may be: NumPy arrays, lists of them, dictionaries by name, tensors (with steps), `tf.data` datasets, generators
and `tf.keras.utils.Sequence`s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import log
from tfexp.functions.function import functions_run_eagerly
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras import optimizers
from tfexp.keras.engine.node import alone
from tfexp.keras.mixed_precision.policy import Policy
from tfexp.keras.training import loop
from tfexp.keras.training.batches import Batch
from tfexp.keras.training.compiled import Compiled
from tfexp.keras.training.data import Data
from tfexp.keras.training.dataset_batches import first_of, is_dataset, refuse_iterator
from tfexp.keras.training.feeding import Feeding
from tfexp.keras.training.generator_batches import as_generator, is_generator
from tfexp.keras.training.steps import PREDICT, TEST, TRAIN


class Training:
    """Methods of `tf.keras.Model`. `stop_training` ends `fit` after the batch during which it is set.

    After `compile`: `optimizer`, `loss`, `loss_weights`, `sample_weight_mode` as they were given, `total_loss`, the tensor
    that is minimized, `metrics_names`.
    """

    name: str
    inputs: Any
    outputs: Any
    _policy: Policy
    stop_training = False
    history: Any = None
    optimizer: Any = None
    loss: Any = None
    loss_weights: Any = None
    sample_weight_mode: Any = None
    _run_eagerly: bool | None = None
    _compiled: Compiled | None = None
    _asked: Feeding | None = None  # what computes predictions of a model that was not compiled

    # --- compile --------------------------------------------------------------------------------------------------------

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        run_eagerly: bool | None = None,
        **kwargs: Any,
    ) -> None:
        """Say what is minimized, how, and what is reported.

        loss, metrics, loss_weights, weighted_metrics, sample_weight_mode, target_tensors: one for all outputs, a list, or a
        dictionary by output. A model without known inputs is prepared when it sees data. kwargs: arguments of `Session.run`.
        Raises ValueError and TypeError for what does not fit the outputs, and where there is nothing to minimize.
        """
        kwargs.pop("cloning", None)
        kwargs.pop("experimental_run_tf_function", None)
        arguments: dict[str, Any] = {name: kwargs.pop(name) for name in _RUN_ARGUMENTS if name in kwargs}
        if kwargs and not executing_eagerly():  # which runs no session that they could be for, and lets them be
            raise TypeError(f"Invalid keyword argument(s) in `compile`: {set(kwargs)}")
        if distribute is not None:
            log.warn("`distribute` of `compile` is deprecated: create and compile the model under the strategy's scope.")
        self._run_eagerly = run_eagerly
        if self.run_eagerly and target_tensors is not None:
            raise ValueError("target_tensors argument is not supported when running a model eagerly.")
        self.optimizer = optimizers.scaling(optimizers.get(optimizer), self._policy)
        self.loss, self.loss_weights, self.sample_weight_mode = loss, loss_weights, sample_weight_mode
        self._asked = None
        self._compiled = Compiled(
            self, loss, metrics, loss_weights, weighted_metrics, sample_weight_mode, target_tensors, arguments
        )

    @property
    def run_eagerly(self) -> bool:
        """Whether the user asked for steps that call the model, rather than functions; a dynamic model has no others.

        ValueError where that is asked for, or needed, in a graph, and for False with a dynamic model.
        """
        eagerly = executing_eagerly()
        if self._run_eagerly and not eagerly:
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        if not self.dynamic:  # type: ignore[attr-defined]
            return functions_run_eagerly() if self._run_eagerly is None else self._run_eagerly
        if not eagerly:
            raise ValueError(
                "Your model contains layers that can only be successfully run in eager execution (layers constructed with "
                "`dynamic=True`). You must enable eager execution with `tf.enable_eager_execution()`."
            )
        if self._run_eagerly is False:
            raise ValueError(
                "Your model contains layers that can only be successfully run in eager execution (layers constructed with "
                "`dynamic=True`). You cannot set `run_eagerly=False`."
            )
        return True

    @run_eagerly.setter
    def run_eagerly(self, value: bool) -> None:
        self._run_eagerly = value

    @property
    def total_loss(self) -> Any:
        """The tensor that is minimized; None in eager execution, and before the model has seen data."""
        compiled = self._known_compiled()
        return compiled.total_loss if compiled.prepared else None

    @property
    def sample_weights(self) -> list[Any]:
        """Of each output the tensor of its weights, None where there are none; empty before the model has seen data."""
        compiled = self._known_compiled()
        return compiled.sample_weights if compiled.prepared else []

    @property
    def metrics(self) -> list[Any]:
        """The metrics given to `compile`, then those of `add_metric`, here and in layers."""
        compiled = [] if self._compiled is None else self._compiled.metrics
        return compiled + self.added_metrics  # type: ignore[attr-defined,no-any-return]

    @property
    def metrics_names(self) -> list[str]:
        """What the numbers are that training and testing give: `loss`, the losses of several outputs, the metrics."""
        losses = [] if self._compiled is None else [metric.name for metric in self._compiled.loss_metrics]
        return ["loss", *losses, *(metric.name for metric in self.metrics)]

    def reset_metrics(self) -> None:
        """Begin their totals anew."""
        losses = [] if self._compiled is None else self._compiled.loss_metrics
        for metric in (*losses, *self.metrics):
            metric.reset_states()

    def _known_compiled(self) -> Compiled:
        if self._compiled is None:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")
        return self._compiled

    # --- data, steps ----------------------------------------------------------------------------------------------------

    def _feeding(self) -> Feeding:
        """What knows the model's inputs, and its outputs if it was compiled."""
        if self._compiled is not None:
            return self._compiled
        if self._asked is None:
            self._asked = Feeding(self)
        return self._asked

    def _train_step(self, batch: Batch) -> list[Any]:
        return self._known_compiled().train(batch)

    def _test_step(self, batch: Batch) -> list[Any]:
        return self._known_compiled().test(batch)

    def _predict_step(self, batch: Batch) -> list[Any]:
        return self._feeding().predict(batch)

    # --- whole loops ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Sequence[Any] | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool | str = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Train until epoch `epochs`, from `initial_epoch`. Returns a History.

        validation_split: the last part of the arrays is tested on instead. validation_data: (x, y), (x, y, weights), or a
        dataset or generator. shuffle: 'batch' shuffles whole batches. max_queue_size, workers, use_multiprocessing: of
        generators. Raises ValueError for data that does not fit the model.
        """
        if "nb_epoch" in kwargs:
            log.warn("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        data = Data(self._known_compiled(), max_queue_size, workers, use_multiprocessing)
        refuse_iterator(x)
        held_out_part = validation_split if validation_data is None else 0.0
        batches, held_out = data.to_train_on(
            x, y, sample_weight, class_weight, batch_size, steps_per_epoch, shuffle, held_out_part, validation_steps
        )
        validation = None
        if validation_data is not None:
            held_out = data.to_validate_on(validation_data, batches, validation_steps)
        elif validation_steps is not None and held_out is None and (executing_eagerly() or not is_generator(x)):
            raise ValueError("`validation_steps` should not be specified if `validation_data` is None.")
        if held_out is not None:
            validation = loop.Validation(held_out, validation_freq)
        return loop.fit(self, batches, epochs, initial_epoch, verbose, callbacks, validation)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss over the data; with metrics, or several outputs, a list in the order of `metrics_names`."""
        data = Data(self._known_compiled(), max_queue_size, workers, use_multiprocessing)
        refuse_iterator(x)
        batches = data.to_test_on(x, y, sample_weight, batch_size, steps)
        return alone(loop.evaluate(self, batches, verbose, callbacks))

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The model's outputs for the data, batch by batch: an array, or a list of them for several outputs."""
        data = Data(self._feeding(), max_queue_size, workers, use_multiprocessing)
        refuse_iterator(x)
        return alone(loop.predict(self, data.to_ask(x, batch_size, steps), verbose, callbacks))

    # --- single batches -------------------------------------------------------------------------------------------------

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """One step of training. The loss, or a list in the order of `metrics_names`.

        x: a batch; or a dataset, of which it is the first one, or an iterator.
        reset_metrics: whether the metrics are of this batch alone, rather than of all batches since they were reset.
        """
        compiled = self._known_compiled()
        if is_dataset(x):
            batches, _ = Data(compiled).to_train_on(
                x, y, sample_weight, class_weight, batch_size=None, steps=1, shuffle=False, split=0.0
            )
            batch = first_of(batches)
        else:
            batch = Batch(*compiled.arranged(x, y, sample_weight, class_weight), 1)
        results = compiled.train(batch)
        if reset_metrics:
            self.reset_metrics()
        return alone(results)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
        """The loss of one batch, or a list in the order of `metrics_names`. x: as `train_on_batch`."""
        compiled = self._known_compiled()
        if is_dataset(x):
            batch = first_of(Data(compiled).to_test_on(x, y, sample_weight, batch_size=None, steps=1))
        else:
            batch = Batch(*compiled.arranged(x, y, sample_weight, None), 1)
        results = compiled.test(batch)
        if reset_metrics:
            self.reset_metrics()
        return alone(results)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch: arrays, or tensors in eager execution. x: as `train_on_batch`."""
        feeding = self._feeding()
        if is_dataset(x):
            batch = first_of(Data(feeding).to_ask(x, batch_size=None, steps=1))
        else:
            batch = Batch(feeding.arranged_inputs(x), (), 1)
        values = feeding.predict(batch)
        return alone([convert_to_tensor(value) for value in values] if executing_eagerly() else values)

    # --- the older names for generators ---------------------------------------------------------------------------------

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Sequence[Any] | None = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """`fit` on what a generator yields, or on a Sequence."""
        return self.fit(
            as_generator(generator),
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            shuffle=shuffle,
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """`evaluate` on what a generator yields, or on a Sequence."""
        return self.evaluate(
            as_generator(generator),
            verbose=verbose,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """`predict` on what a generator yields, of which only the inputs are used, or on a Sequence."""
        return self.predict(
            as_generator(generator),
            verbose=verbose,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    # --- what savers and callbacks use ----------------------------------------------------------------------------------

    def _make_train_function(self) -> Any:
        """Prepare training, which makes the optimizer's variables. Returns the function."""
        return self._known_compiled().backend_function(TRAIN)

    def _make_test_function(self) -> Any:
        return self._known_compiled().backend_function(TEST)

    def _watch_tests(self, tensor: Any, called: Callable[[Any], None] | None) -> None:
        """Compute a tensor in each step of testing besides, and hand its value on; None ends that."""
        self._known_compiled().steps.watch(TEST, tensor, called)

    def _make_predict_function(self) -> Any:
        return self._feeding().backend_function(PREDICT)

    train_function = property(_make_train_function)
    test_function = property(_make_test_function)
    predict_function = property(_make_predict_function)


_RUN_ARGUMENTS = ("options", "run_metadata", "feed_dict", "fetches")
