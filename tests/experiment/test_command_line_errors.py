"""What a user can get wrong on the command line ends in one line that says what, where, and what there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tfexp.experiment.cli import reported
from tfexp.experiment.errors import ExperimentError, SettingError, nearest
from tfexp.experiment.missing import brought_by

ROOTS = (
    "The choices are: cluster, data, device, input, model, optimizer, replication, rerun, resume, schedule, sweep, train, "
    "update"
)
TRAIN = (
    "The choices are: batch_size, checkpoint_every, early_stop, epochs, eval_every, freeze, keep_best, keep_checkpoints, "
    "seed, start_from, steps, summary_every, trace_every"
)
MODELS = "The choices are: cnn, ensemble, gan, layers, linreg, logreg, lstm, mlp, own, softmax, word2vec"
FLAGS = "The choices are: --cfg, --config-dir, --help, --hydra-help, --info, --multirun, --version, -m"


MESSAGES = {
    # choices and groups
    "model=linrg": f"model (conf/model): there is no choice 'linrg'; did you mean 'linreg'? {MODELS}",
    "--cfg job model=linrg": f"model (conf/model): there is no choice 'linrg'; did you mean 'linreg'? {MODELS}",
    "-m model=mlp,linrg": f"model (conf/model): there is no choice 'linrg'; did you mean 'linreg'? {MODELS}",
    "modl=linreg": f"modl (conf/config.yaml): there is no setting or group 'modl'; did you mean 'model'? {ROOTS}",
    "cluster=9workers": "cluster (conf/cluster): there is no choice '9workers'; did you mean '2workers'? "
    "The choices are: 2peers, 2ps3workers, 2workers, local, static",
    "device=cpus": "device (conf/device): there is no choice 'cpus'; did you mean 'cpu'? "
    "The choices are: cpu, gpu, numba, one_thread, onednn, xla",
    "device=/cpu:1": "device (conf/device): there is no choice '/cpu:1'; did you mean 'cpu'? "
    "The choices are: cpu, gpu, numba, one_thread, onednn, xla",
    "model=mypackage.nets:Wide": "model (conf/model): 'mypackage.nets:Wide' is a class, not a choice: "
    "write model=own model.target=mypackage.nets:Wide",
    "-m optimizer=sgd,mine:Sign": "optimizer (conf/optimizer): 'mine:Sign' is a class, not a choice: "
    "write optimizer=own optimizer.target=mine:Sign",
    # stray signs
    "+model=linreg": "+model: model is chosen already: write model=<choice>, without the plus",
    "+model=mlp": "+model: model is chosen already: write model=<choice>, without the plus",
    "++model=mlp": "++model: model is chosen already: write model=<choice>, without the plus",
    "model@other=mlp": "model@other: a group has its own section, without @, and nothing chosen has such a part",
    "model@model.member=mlp": "model@model.member: "
    "a group has its own section, without @, and nothing chosen has such a part",
    "~train.steps": "train.steps: a setting cannot be taken away (~): give another value",
    "++train.stepz=3": f"train.stepz (conf/config.yaml): there is no setting 'stepz'; did you mean 'steps'? {TRAIN}",
    "-m hydra/launcher=joblib": "hydra/launcher: sweeps are tfexp's own: give sweep.launcher=local, process or ray",
    "-m hydra/sweeper=optuna": "hydra/sweeper: sweeps are tfexp's own: give sweep=grid, random or optuna (pip install "
    "'tfexp[search]')",
    "~model": "model: a setting cannot be taken away (~): give another value",
    "+colour=red": "colour: there is no section 'colour'; did you mean 'cluster'? The choices are: cluster, data, "
    "device, input, model, optimizer, replication, schedule, train, update",
    "optimizer=sgd,adam": "optimizer: 'optimizer=sgd,adam' is several values: add -m to try each",
    "model": "cannot read 'model' as key=value",
    "train.steps=[1,": "cannot read 'train.steps=[1,' as key=value (a value with spaces, commas, brackets or letters such "
    "as é needs quotes of its own: 'train.steps=\"[1,\"')",
    "data=csv data.path=données.csv": "cannot read 'data.path=données.csv' as key=value (a value with spaces, commas, "
    "brackets or letters such as é needs quotes of its own: 'data.path=\"données.csv\"')",
    "données=3": "cannot read 'données=3' as key=value",
    "cluster.ps_hosts={a:1}": "cluster.ps_hosts (conf/cluster/local.yaml, line 5): '{'a': 1}' is not a list: give "
    "cluster.ps_hosts=[…]",
    "cluster.ps_hosts.a=3": "cluster.ps_hosts (conf/cluster/local.yaml, line 5): is a list, which has no 'a': give "
    "cluster.ps_hosts=[…]",
    "cluster.ps_hosts.a.b=3": "cluster.ps_hosts (conf/cluster/local.yaml, line 5): is a list, which has no 'a.b': give "
    "cluster.ps_hosts=[…]",
    "train.early_stop=[1]": "train.early_stop: '[1]' is not a section: give train.early_stop.<setting>=<value>",
    "optimizer=[sgd]": "optimizer: a list, where one is chosen: write optimizer=<choice>; with -m, optimizer=a,b tries each",
    "-m model=[linreg,mlp],cnn": "model: a list, where one is chosen: write model=<choice>; with -m, model=a,b tries each",
    "optimizer={l2:1}": "optimizer: settings, where one is chosen: write optimizer=<choice> optimizer.<setting>=<value>",
    "schedule=null": "schedule (conf/schedule): there is no choice 'null'. The choices are: constant, cosine, "
    "cosine_restarts, exponential, inverse_time, natural_exp, own, piecewise, polynomial",
    "model=3": f"model (conf/model): there is no choice '3'. {MODELS}",
    "hydra.run.dir=": "hydra.run.dir: a folder must be given: hydra.run.dir=outputs/…",
    "-m train.steps=1,2 hydra.sweep.dir=": "hydra.sweep.dir: a folder must be given: hydra.sweep.dir=outputs/…",
    # keys
    "learning_rate=1": "learning_rate (conf/config.yaml): there is no setting or group 'learning_rate'; "
    f"did you mean 'optimizer.learning_rate'? {ROOTS}",
    "seed=1": f"seed (conf/config.yaml): there is no setting or group 'seed'; did you mean 'train.seed'? {ROOTS}",
    "train.steps=${nowhere.x}": "train.steps: Interpolation key 'nowhere.x' not found",
    "optimzer.learning_rate=1": "optimzer.learning_rate (conf/config.yaml): there is no setting or group "
    "'optimzer.learning_rate'; "
    f"did you mean 'optimizer.learning_rate'? {ROOTS}",
    "optimizer.lr=1": "optimizer.lr (conf/optimizer/sgd.yaml): there is no setting 'lr'; did you mean "
    "'learning_rate'? The choices are: clip_norm, learning_rate",
    "--cfg job train.stepz=3": f"train.stepz (conf/config.yaml): there is no setting 'stepz'; did you mean 'steps'? {TRAIN}",
    "train.stepz=3": f"train.stepz (conf/config.yaml): there is no setting 'stepz'; did you mean 'steps'? {TRAIN}",
    "train.learning_rate=3": f"train.learning_rate (conf/config.yaml): there is no setting 'learning_rate'. {TRAIN}. "
    "There is optimizer.learning_rate",
    "train.early_stop.patienc=3": "train.early_stop.patienc (conf/config.yaml): there is no setting 'patienc'; "
    "did you mean 'patience'? The choices are: min_delta, patience",
    # types and ranges
    "train.steps=many": "train.steps: 'many' is not a whole number or null",
    "train.steps=2.5": "train.steps: '2.5' is not a whole number or null",
    "-m train.steps=2,many": "train.steps: 'many' is not a whole number or null",
    "train.seed=null": "train.seed: null is not a whole number",
    "train.steps=-3": "train.steps: -3 must be at least 1",
    "train.steps=null": "train.steps: give train.steps or train.epochs",
    "train.early_stop.patience=0": "train.early_stop.patience: 0 must be at least 1",
    "train.early_stop=3": "train.early_stop: '3' is not a section with patience, min_delta",
    "train=3": "train: '3' is not a section: give train.<setting>=<value>",
    "optimizer.learning_rate=fast": "optimizer.learning_rate: 'fast' is not a number",
    "optimizer.learning_rate=nan": "optimizer.learning_rate: nan is not a finite number",
    "optimizer=momentum optimizer.use_nesterov=perhaps": "optimizer.use_nesterov: 'perhaps' is not true or false",
    "optimizer=momentum optimizer.momentum=1": "optimizer.momentum: 1.0 must be below 1",
    "model=mlp model.hidden=[3,a]": "model.hidden[1]: 'a' is not a whole number",
    "model=mlp model.hidden=3": "model.hidden: '3' is not a list, each item a whole number",
    "model=mlp model.hidden=[8,[16]]": "model.hidden[1]: '[16]' is not a whole number",
    "model=mlp model.hidden=[{a:1}]": "model.hidden[0]: '{'a': 1}' is not a whole number",
    "model=mlp model.hidden=[9223372036854775808]": "model.hidden: 9223372036854775808 is no whole number of 64 bits",
    "model=ensemble model.member.activation=[]": "model.member.activation: there is no choice '[]'. The choices are: elu, "
    "relu, sigmoid, tanh",
    "train.keep_checkpoints=2147483648": "train.keep_checkpoints: 2147483648 must be below 2147483648",
    "model=mlp model.activation=rel": "model.activation: there is no choice 'rel'; did you mean 'relu'? "
    "The choices are: elu, relu, sigmoid, tanh",
    "schedule=piecewise schedule.factors=[1]": "schedule.factors: 2 boundaries need 3 factors, 1 were given",
    "schedule=piecewise schedule.boundaries=[5,5]": "schedule.boundaries: [5, 5] must be one or more steps, each later",
    "data=csv data.label=a": "data.path (conf/data/csv.yaml, line 3): a text must be given: data.path=<value>",
    "data=csv": "data: label (a text), path (a text) must be given: data.label=<value> data.path=<value>",
    "data=csv data.label=a data.path=a.csv data.delimiter=ab": "data.delimiter: 'ab' must be one character, "
    "and neither a quote nor the end of a line",
    # classes of one's own
    "model=own": "model.target (conf/model/own.yaml, line 2): has no value: give model.target=package.module:Class",
    "model=own model.target=foo": "model.target: 'foo' is not of the form package.module:Class",
    "model=own model.target=nowhere.nets:Net": "model.target: there is no module 'nowhere' (of 'nowhere.nets:Net')",
    "model=own model.target=tfexp.experiment.models.mlp:Mpl": "model.target: there is no class in "
    "tfexp.experiment.models.mlp called 'Mpl'; did you mean 'Mlp'? The choices are: Mlp",
    "model=own model.target=tfexp.experiment.models.mlp:dense": "model.target: "
    "'tfexp.experiment.models.mlp:dense' is not a dataclass derived from tfexp.experiment.models.model.Model",
    # things that do not go together
    "data=digits": "model: Linreg predicts numbers and this data has 10 classes: choose model=softmax, mlp, or another that "
    "knows classes, or data=diabetes, line, or csv without data.classes",
    "model=softmax data=line": "model: Softmax needs classes and this data's labels are numbers: choose model=linreg, mlp, "
    "or another that predicts numbers, or data=digits, breast_cancer, or csv with data.classes=<how many>",
    "model=logreg data=digits": "model: Logreg tells two classes apart and this data has 10: choose model=softmax, or "
    "data=breast_cancer",
    "model=ensemble model@model.member=softmax data=line": "model.member: Softmax needs classes and this data's labels are "
    "numbers: choose model=linreg, mlp, or another that predicts numbers, or data=digits, breast_cancer, or csv with "
    "data.classes=<how many>",
    "model=word2vec data=digits": "model: Word2vec learns from pairs of words, and this data has 64 features and 10 "
    "classes: choose data=corpus, or data=csv with one column beside the label and data.standardize=false",
    "model=cnn data=diabetes": "model.image (conf/model/cnn.yaml, line 7): [8, 8, 1] is 64 numbers and a row of this data "
    "has 10 features: give the height, width and channels of the data's images, or data=digits, whose are [8, 8, 1]",
    "model=lstm model.steps=7": "model.steps: a row of this data has 64 features, which 7 pieces of one length do not make: "
    "give 2 or 4 or 8 or 16 or 32 or 64",
    "model=lstm data=line": "model.steps (conf/model/lstm.yaml, line 7): a row of this data has 1 features, which 8 pieces "
    "of one length do not make: give 1",
    "train.batch_size=355": "train.batch_size: 355 is more than the 354 training rows",
    "data=line data.test_fraction=0.996": "data.test_fraction: 0.996 of 100 rows leaves none to train on",
    "train.steps=3 train.epochs=4": "train.epochs: give train.steps or train.epochs, not both",
    "hydra.job.chdir=true": "hydra.job.chdir: of Hydra's own settings, a single run takes hydra.run.dir and "
    "hydra.searchpath",
    "resume=a rerun=b": "resume: give resume (go on) or rerun (once more from the start), not both",
    "-m resume=a,b": "resume: goes with a single run, not with -m",
    "rerun=a model=mlp": "model: a run is run again as it was; with rerun, only hydra.run.dir may be given",
    # clusters
    "cluster=2workers replication=none": "replication: none trains in one process, and the cluster has 1 parameter "
    "server and 2 workers: choose replication=between_graph, in_graph or all_reduce, or cluster=local",
    "replication=between_graph": "replication: between_graph needs workers and a parameter server, and cluster=local "
    "has neither: choose cluster=2workers, 2ps3workers or static, or replication=in_graph or none",
    "update=sync": "update: sync puts the gradients of several copies of the model together, and replication=none has one: "
    "use update=async, or choose a cluster such as cluster=2workers, or replication=in_graph",
    "cluster=2workers update=sync update.spare=2": "update.spare: 2 of 2 workers leaves none to make an update: "
    "give at most 1",
    "cluster=2workers replication=in_graph update=sync update.spare=1": "update.spare: 1: only between_graph has "
    "workers that an update need not wait for: give 0, or choose it",
    "cluster=2peers update.spare=1": "update.spare: 1: only between_graph has workers that an update need not wait for: "
    "give 0, or choose it",
    "cluster=2peers update=async": "update: async is for workers that share variables, and with replication=all_reduce each "
    "has its own: use update=sync, or choose replication=between_graph",
    "cluster=2workers replication=all_reduce update=sync": "cluster.ps (conf/cluster/2workers.yaml, line 6): all_reduce has "
    "all variables on each worker, and the cluster has 1 parameter server and 2 workers: give no parameter servers "
    "(cluster=2peers has none), or choose replication=between_graph",
    "replication=all_reduce update=sync": "replication: all_reduce needs workers, and cluster=local has none: choose "
    "cluster=2peers, or replication=in_graph or none",
    "cluster=2peers cluster.workers=1": "cluster.workers: 1: all_reduce needs workers to make steps together: give at least "
    "2",
    "cluster=2peers cluster.restarts=3": "cluster.restarts: 3: all_reduce ends the run when a worker is lost, and resume= "
    "goes on: give 0",
    "cluster=2peers cluster.wire_dtype=float16": "cluster.wire_dtype: float16: all_reduce sends gradients as they are: give "
    "float32, or choose replication=between_graph",
    "cluster=2workers update=sync update.spare=-1": "update.spare: -1 must be at least 0",
    "replication=in_graph replication.towers=0": "replication.towers: 0 must be at least 1",
    "cluster=2workers replication=in_graph cluster.ps=0": "cluster.ps: in_graph needs a parameter server to keep the "
    "variables that the workers share: give at least 1",
    "cluster=2workers update=sync train.batch_size=31": "train.batch_size: 31 makes a batch of 31 rows, which update=sync "
    "divides among the 2 workers: give a multiple of 2 such as 30",
    "replication=in_graph replication.towers=5 update=sync train.batch_size=3": "train.batch_size: 3 makes a batch of 3 "
    "rows, which update=sync divides among the 5 towers: give a multiple of 5 such as 5",
    "replication=in_graph replication.towers=12": "train.batch_size (conf/config.yaml, line 27): 32 makes 11 batches of 32 "
    "rows in an epoch of 354, and each of the 12 towers needs one of its own: give at most 29",
    "cluster=2workers cluster.workers=1000000000000": "cluster.workers: 1000000000000 workers are more than the 354 "
    "training rows",
    # More than a process can address, whatever its system promises.
    "data=line data.points=1000000000000000": "data: Line does not fit into memory: Unable to allocate 7.11 PiB for an "
    "array with shape (1000000000000000,) and data type float64",
    "replication=in_graph device.name=/job:worker/cpu:0": "device.name: '/job:worker/cpu:0' names a task: with workers, "
    "each has its own",
    "cluster=2workers cluster.ps=0": "cluster.ps: between_graph needs a parameter server to keep the variables that the "
    "workers share: give at least 1",
    "cluster=2workers cluster.workers=0": "cluster.workers: between_graph needs a worker to train: give at least 1",
    "cluster=static": "cluster.ps_hosts (conf/cluster/local.yaml, line 5): between_graph needs a parameter "
    "server to keep the variables that the workers "
    "share: give at least 1",
    "cluster=static cluster.ps_hosts=[a:1]": "cluster.worker_hosts (conf/cluster/local.yaml, line 6): "
    "between_graph needs a worker to train: give at least 1",
    "cluster=static cluster.ps_hosts=[a]": "cluster.ps_hosts: 'a' is not host:port",
    "cluster=static cluster.ps_hosts=[a:1] cluster.worker_hosts=[a:1]": "cluster.worker_hosts: two tasks have the "
    "address a:1",
    "cluster=static cluster.ps_hosts=[a:1] cluster.workers=2": "cluster.worker_hosts "
    "(conf/cluster/local.yaml, line 6): has 0 addresses for 2 tasks",
    "cluster=2workers cluster.ps_hosts=[a:1]": "cluster.ps_hosts: is for cluster.hosting=static, and it is ray",
    "cluster=2workers cluster.hosting=slurm": "cluster.hosting: there is no choice 'slurm'. "
    "The choices are: process, ray, static",
    "cluster=2workers train.batch_size=null": "train.batch_size: null makes 1 batch of 354 rows in an epoch of 354, and "
    "each of the 2 workers needs one of its own: give at most 177",
    "cluster=2workers device.name=/job:ps/cpu:0": "device.name: '/job:ps/cpu:0' names a task: with workers, each has "
    "its own",
    # flags and folders
    "--multrun": f"there is no flag '--multrun'; did you mean '--multirun'? {FLAGS}",
    "--config-name other": "--config-name: is not for this program: use --config-dir",
    "--config-dir nowhere": "--config-dir: there is no folder nowhere",
    "resume=nowhere": "nowhere is not a run's folder: it has no config.yaml",
    "rerun=nowhere": "nowhere is not a run's folder: it has no config.yaml",
    "resume=": "resume: a run's folder must be given: resume=outputs/…",
    "rerun=": "rerun: a run's folder must be given: rerun=outputs/…",
    # flags
    "--cfg jobs": "--cfg/-c: invalid choice: 'jobs' (choose from 'job', 'hydra', 'all')",
    "--config-dir": "--config-dir/-cd: expected one argument",
}


@pytest.mark.parametrize("line", MESSAGES)
def test_message(line: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*line.split(" "))

    assert ended.err == f"tfexp: {MESSAGES[line]}\n"
    assert ended.code != 0
    assert ended.out == ""
    assert list(tmp_path.iterdir()) == [], "a refused command leaves nothing behind"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("data=line -m train.steps=2,3 sweep.dry=true", "2 trials, checked"),
        ("data=line --cfg job train.steps=7", "steps: 7\n"),
    ],
)
def test_flags_may_stand_between_words(line: str, said: str, cli: Callable) -> None:
    ended = cli(*line.split())
    assert (ended.code, ended.err) == (0, "")
    assert said in ended.out


def test_full_error_shows_where_it_came_from(cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(SettingError, match="did you mean 'linreg'"):
        cli("model=linrg")


def test_a_fault_in_ones_own_module_is_not_hidden(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_nets.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        cli("model=own", "model.target=broken_nets:Net")


def test_output_folder_that_cannot_be_made(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("mine")
    ended = cli("hydra.run.dir=note/run")
    assert ended.err == "tfexp: cannot make the run's folder note/run: Not a directory\n"
    ended = cli("hydra.run.dir=note")
    assert ended.err == "tfexp: note is in the way of the run's folder: it is not a folder\n"
    assert ended.code == 1
    assert (tmp_path / "note").read_text() == "mine"


def test_unknown_device_names_what_there_is(cli: Callable, tmp_path: Path) -> None:
    ended = cli("device.name=cpu:x:y")
    assert ended.code == 2
    assert ended.err.startswith("tfexp: device.name: 'cpu:x:y' is not a device's name such as /cpu:0")
    assert list(tmp_path.iterdir()) == []

    ended = cli("device.name=/gpu:0", "hydra.run.dir=run")
    assert (ended.code, ended.err) == (
        2,
        "tfexp: device.name: there is no '/gpu:0' here, only /cpu:0: give one of them, or device.soft_placement=true to run "
        "on it what has no other device\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_nearest_knows_last_parts_initials_and_slips() -> None:
    choices = ["train.steps", "optimizer.learning_rate", "model.hidden"]
    assert nearest("learning_rate", choices) == "optimizer.learning_rate"
    assert nearest("lr", choices) == "optimizer.learning_rate"
    assert nearest("", choices) is None
    assert nearest("train.step", choices) == "train.steps"
    assert nearest("hiden", choices) == "model.hidden"
    assert nearest("colour", choices) is None


def test_every_error_says_how_the_process_ends() -> None:
    kinds = [ExperimentError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    assert SettingError in kinds
    assert all(kind.exit_code > 0 for kind in kinds)


def test_a_wrong_setting_in_a_file_of_ones_own_names_the_file_and_the_line(cli: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "optimizer"
    folder.mkdir(parents=True)
    (folder / "fast.yaml").write_text("defaults:\n  - sgd\n  - _self_\nlearning_rate: -1\n")
    (folder / "slip.yaml").write_text("defaults:\n  - sgd\n  - _self_\nlerning_rate: 1\n")
    (folder / "torn.yaml").write_text("target: [a\nlearning_rate: 1\n")
    for choice, message in {
        "fast": f"optimizer.learning_rate ({folder}/fast.yaml, line 4): -1.0 must be above 0",
        "slip": f"optimizer.lerning_rate ({folder}/slip.yaml, line 4): there is no setting 'lerning_rate'; did you mean "
        "'learning_rate'? The choices are: clip_norm, learning_rate",
        "torn": f"{folder}/torn.yaml, line 2: not YAML: expected ',' or ']', but got ':'",
    }.items():
        ended = cli("--config-dir", "mine", f"optimizer={choice}")
        assert (ended.code, ended.err) == (2, f"tfexp: {message}\n")


def test_a_mapping_for_a_list_in_a_file_of_ones_own_is_named(cli: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "model"
    folder.mkdir(parents=True)
    (folder / "odd.yaml").write_text("target: tfexp.experiment.models.mlp:Mlp\nhidden: {a: 1}\nactivation: relu\nl2: 0\n")
    ended = cli("--config-dir", "mine", "model=odd")
    assert (ended.code, ended.err) == (2, "tfexp: model.hidden: '{'a': 1}' is not a list, each item a whole number\n")


@pytest.mark.parametrize(
    ("module", "command"),
    [("hydra.core", "pip install hydra-core"), ("ray.util", "pip install ray"), ("pytest", "pip install 'tfexp[test]'")],
)
def test_a_missing_package_says_which_pip_install_brings_it(
    module: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def imports() -> int:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    assert reported(imports) == 1
    assert capsys.readouterr().err == f"tfexp: {module} is not installed here: {command}\n"
    assert brought_by("a_module_that_nobody_has") is None


def test_a_file_that_one_may_not_look_into_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    def looks() -> int:
        raise PermissionError(13, "Permission denied", "theirs/config.yaml")

    assert reported(looks) == 1
    assert capsys.readouterr().err == "tfexp: theirs/config.yaml: Permission denied\n"


def test_a_library_that_is_not_there_is_said_where_it_is_asked_for(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tfexp.experiment.build.lacks_onednn", lambda: "oneDNN is not installed: pip install 'tfexp[onednn]'"
    )
    ended = cli("device=onednn", "hydra.run.dir=run")
    assert (ended.code, ended.err) == (
        2,
        "tfexp: device.onednn (conf/device/onednn.yaml, line 5): oneDNN is not installed: pip install 'tfexp[onednn]'\n",
    )
    assert list(tmp_path.iterdir()) == []
