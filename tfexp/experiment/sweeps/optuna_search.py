"""Points that Optuna chooses by what the earlier ones came to: `sweep=optuna`. The one owner of `import optuna`.

The study is kept in a file (Optuna's journal), which other sweeps may share. Each of its trials bears the name of the sweep
and the number of the point, so that what was asked and not told before the driver was ended is found again.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import ExperimentError, SettingError
from tfexp.experiment.sweeps.searching import Search
from tfexp.experiment.sweeps.space import Choices, Dimension, Point, Space

__all__ = ["OptunaSearch"]

_STUDY = "tfexp"
_SWEEP, _POINT = "tfexp_sweep", "tfexp_point"


class OptunaSearch(Search):
    """`trials` points from `space`; `storage` None keeps the study in memory. `sweep` is the sweep's name in the study."""

    ahead = False

    def __init__(
        self, space: Space, *, trials: int, seed: int, sampler: str, minimizes: bool, storage: Path | None, sweep: str
    ) -> None:
        try:
            import optuna
        except ImportError as error:
            raise SettingError("sweep", "optuna needs Optuna: pip install 'tfexp[search]'") from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space, self._total, self._sweep, self._optuna = space, trials, sweep, optuna
        self._direction = "minimize" if minimizes else "maximize"
        self._sampler, self._seed, self._storage = sampler, seed, storage
        self._study: Any = None
        self._asked: list[Any] = []
        """Optuna's trials, by the point's number."""

    def _open(self) -> Any:
        if self._study is None:
            optuna = self._optuna
            keep = None
            if self._storage is not None:
                from optuna.storages import JournalStorage
                from optuna.storages.journal import JournalFileBackend

                try:
                    keep = JournalStorage(JournalFileBackend(str(self._storage)))
                except OSError as error:
                    raise ExperimentError(f"cannot keep the study in {self._storage}: {error.strerror}") from error
            self._study = optuna.create_study(
                study_name=_STUDY, storage=keep, direction=self._direction, load_if_exists=True, sampler=self._made_sampler()
            )
            has = self._study.direction.name.lower()
            if has != self._direction:
                raise SettingError(
                    "sweep.storage", f"the study in {self._storage} is to {has}, and this sweep to {self._direction}"
                )
        return self._study

    def _made_sampler(self) -> Any:
        # A sampler's own state is not kept: taken up, it begins with a seed of its own rather than with the same numbers.
        seed = (self._seed + len(self._asked)) % 2**32
        options: dict[str, Any] = {"seed": seed}
        if self._sampler == "TPESampler":
            options["constant_liar"] = True  # what is still running counts as bad, so that others look elsewhere
        if self._sampler == "CmaEsSampler":
            options["warn_independent_sampling"] = False  # choices are drawn at random, as its description says
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
            return getattr(self._optuna.samplers, self._sampler)(**options)

    def ask(self) -> Point | None:
        if len(self._asked) >= self._total:
            return None
        study = self._open()
        trial = study.ask()
        trial.set_user_attr(_SWEEP, self._sweep)
        trial.set_user_attr(_POINT, len(self._asked))
        self._asked.append(trial)
        return self._space.point(lambda dimension: _suggested(trial, dimension))

    def tell(self, number: int, value: float | None, *, halved_at: int | None = None) -> None:
        states = self._optuna.trial.TrialState
        trial, study = self._asked[number], self._open()
        if any(known.number == trial.number and known.state.is_finished() for known in study.get_trials(deepcopy=False)):
            return  # told by an earlier stay
        if value is None:
            study.tell(trial, state=states.FAIL)
        elif halved_at is not None:
            trial.report(value, halved_at)
            study.tell(trial, state=states.PRUNED)
        else:
            study.tell(trial, value)

    def take_up(self, asked: list[Point]) -> None:
        self._asked = [None] * len(asked)
        study, optuna = self._open(), self._optuna
        for known in study.get_trials(deepcopy=False):
            if known.user_attrs.get(_SWEEP) != self._sweep:
                continue
            number = known.user_attrs.get(_POINT)
            if number is not None and number < len(asked):
                self._asked[number] = optuna.trial.Trial(study, known._trial_id)
            elif not known.state.is_finished():  # it was asked for, and the driver was ended before it knew
                study.tell(known.number, state=optuna.trial.TrialState.FAIL)
        if None in self._asked:
            raise ExperimentError(f"the study in {self._storage} lacks point {self._asked.index(None)} of this sweep")


def _suggested(trial: Any, dimension: Dimension) -> str:
    values = dimension.values
    if isinstance(values, Choices):
        chosen: str = trial.suggest_categorical(dimension.name, values.values)
        return chosen
    if values.whole:
        return values.written(trial.suggest_int(dimension.name, int(values.low), int(values.high), log=values.log))
    return values.written(trial.suggest_float(dimension.name, values.low, values.high, log=values.log))
