import pytest

from otherhalf.errors import InputError, RunsFailed
from otherhalf.experiments.runner import workbench as module
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.runner.workbench import Workbench, failure, number, results


def job(seed=0, model="gcn"):
    return Job("fit", "cora", "h", model, {}, "uniform", seed)


class Work:
    """Stands for the worker; ``wrong`` says by seed what it raises."""

    def __init__(self, **wrong):
        self.wrong = {int(seed[1:]): error for seed, error in wrong.items()}
        self.done = []
        self.opened = []

    def open(self, data):
        self.opened.append(data)

    def __call__(self, one):
        self.done.append(one.seed)
        if one.seed in self.wrong:
            raise self.wrong[one.seed]
        return {"test": 0.5}


@pytest.fixture
def workbench(tmp_path):
    def make(**wrong):
        made = Workbench(Store(tmp_path / "runs"), workers=0)
        made._worker = Work(**wrong)
        return made

    return make


def test_only_what_is_missing_is_run(workbench, capsys):
    one = workbench()
    one.run([job(0), job(1)])
    one.run([job(1), job(2)])
    assert one._worker.done == [0, 1, 2]
    assert one.failed == []
    assert "1 of 2 runs are there already" in capsys.readouterr().err
    again = workbench()
    again.run([job(0), job(1), job(2)])
    assert again._worker.done == []
    assert capsys.readouterr().err == ""  # nothing to tell where nothing is done


def test_data_are_opened_once_before_the_runs_and_only_where_there_are_runs(workbench):
    one = workbench()
    one.run([job(0), job(1), job(0, "mlp")])
    assert one._worker.opened == ["cora"]
    one.run([job(0)])
    assert one._worker.opened == ["cora"]

    def absent(data):
        raise InputError(f"{data} is not at hand")

    one._worker.open = absent
    with pytest.raises(InputError, match="cora is not at hand"):
        one.run([job(2)])
    assert (one._worker.done, one.failed) == ([0, 1, 0], [])


@pytest.mark.parametrize("result", [{}, {"nodes": 3}, {"nodes": {"test": "many"}}, {"nodes": None}])
def test_a_result_without_its_number_is_refused(result):
    with pytest.raises(InputError, match="where the number nodes/test belongs: restore it"):
        number(result, "nodes", "test")
    assert number({"test": None}, "test") is None
    assert number({"a": {"b": 2}}, "a", "b") == 2


def test_nothing_to_do(workbench):
    workbench().run([])


def test_results(workbench):
    one = workbench(s1=InputError("no"))
    one.run([job(0), job(1)])
    assert one.results([job(0), job(1), job(2)]) == [{"test": 0.5}, None, None]
    assert results(one.store, [job(0)]) == [{"test": 0.5}]


def test_a_failure_is_kept_and_not_tried_again_by_this_lab(workbench):
    one = workbench(s1=InputError("too few labels: label more nodes"))
    one.run([job(0), job(1)])
    one.run([job(1), job(2)])
    one.run([job(1)])
    assert one._worker.done == [0, 1, 2]
    ((failed, outcome),) = one.failed
    assert (failed, outcome.message) == (job(1), "too few labels: label more nodes")
    another = workbench()
    another.run([job(1)])
    assert another._worker.done == [1]


def test_wrong_input_is_the_users(workbench):
    one = workbench(s1=InputError("too few labels: label more nodes"))
    one.run([job(0), job(1)])
    error = failure(one.failed)
    assert isinstance(error, InputError)
    assert str(error) == (
        "1 run(s) failed, the first being gcn on cora, seed 1: too few labels: label more nodes; the others "
        "are kept"
    )


def test_a_crash_is_not_even_if_it_is_not_the_first(workbench):
    one = workbench(
        s1=InputError("too few labels: label more nodes"), s2=ZeroDivisionError("division by zero")
    )
    one.run([job(0), job(1), job(2)])
    error = failure(one.failed)
    assert isinstance(error, RunsFailed)
    assert str(error).startswith("2 run(s) failed, the first being gcn on cora, seed 1: too few labels")
    (_, crash) = one.failed
    assert isinstance(failure([crash]), RunsFailed)
    assert "seed 2: ZeroDivisionError: division by zero; the others" in str(failure([crash]))


def test_a_process_that_was_killed_is_a_crash_too():
    killed = Outcome(None, 1.0, 0.0, 1, "crash", "killed by signal 9 (out of memory?)")
    error = failure([(Job("audit", "cora", "h", "", {}, "", 3), killed)])
    assert isinstance(error, RunsFailed)
    assert "the first being audit on cora, seed 3: killed by signal 9 (out of memory?)" in str(error)


def test_the_worker_is_told_where_own_data_is(tmp_path):
    assert Workbench(Store(tmp_path), places={"mine": "/there.npz"})._worker.places == {"mine": "/there.npz"}


def test_events_reach_the_screen(workbench, capsys, monkeypatch):
    one = workbench(s1=InputError("no"))
    one.run([job(0), job(1)])
    told = capsys.readouterr().err
    assert "cora gcn seed 0: test 50.00" in told
    assert "cora gcn seed 1: failed: no" in told
    assert module.STORE.parts == ("results", "runs")
