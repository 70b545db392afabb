"""Jobs give the same rows with any number of workers, in any order; one that dies or errs harms no other."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from support.machinery import change_params, open_fake

from kernsemble.trials.errors import PlanError
from kernsemble.trials.executor import (
    InProcess,
    WorkerMismatchError,
    checked_row,
    execute,
    find_trial,
    plain_value,
    process_pool,
    run_job,
    stop_pools,
)
from kernsemble.trials.plan import Job, Stamp
from kernsemble.trials.registry import Exhibit, available_papers, load_paper
from kernsemble.trials.study import TrialsFailedError, number_of_jobs


@pytest.fixture(scope="module", autouse=True)
def _no_processes_left():
    yield
    stop_pools()


def rows_of(jobs, backend):
    rows = {}

    def keep(outcomes):
        for outcome in outcomes:
            rows.update({row.key: row.metrics for row in outcome.rows})

    report = execute(jobs, backend, keep)
    for metrics in rows.values():
        metrics.pop("fit_seconds", None)
    return rows, report


def test_trial_that_exits_is_a_failure_of_its_own(root, monkeypatch):
    """`sys.exit` inside a trial ends neither the run nor its worker."""
    job = open_fake(root).plan("table1").jobs()[0]
    monkeypatch.setattr(
        "kernsemble.trials.registry.TrialFunction.compute", lambda *_: (_ for _ in ()).throw(SystemExit(3))
    )
    outcome = run_job(job)
    assert "SystemExit: 3" in outcome.error
    assert not outcome.rows


def test_same_rows_in_any_order_and_with_any_number_of_workers(root):
    jobs = open_fake(root).plan("table1").jobs()
    shuffled = random.Random(0).sample(jobs, len(jobs))
    expected, report = rows_of(jobs, InProcess())
    assert report.done == len(jobs) == 120
    assert len(expected) == 160
    assert rows_of(shuffled, InProcess())[0] == expected
    assert rows_of(shuffled, process_pool(2))[0] == expected


def test_every_dataset_comes_first_with_its_trial_0(root):
    numbers = [job.number for job in open_fake(root).plan("table1").jobs()]
    assert numbers == sorted(numbers)


def test_only_wanted_rows_are_kept_of_methods_computed_together(root):
    plan = open_fake(root).plan("table1")
    wanted = [key for key in plan.stamps if key.method == "long" and key.trial == 3]
    rows, _ = rows_of(plan.jobs(wanted), InProcess())
    assert sorted(rows) == sorted(wanted)


@pytest.mark.parametrize("jobs", [1, 2])
def test_trials_that_fail_are_reported_and_the_others_go_on(root, jobs):
    some = "methods: [raises, warns, nan, fine]"
    change_params(root, "trouble: {datasets: [coin], runs", f"trouble: {{datasets: [coin], {some}, runs")
    study = open_fake(root, jobs=jobs)
    report = study.run(["trouble"])
    assert {job.methods[0] for job in report.failures} == {"raises", "nan"}
    assert report.warnings == {"UserWarning: stopped early": 1}
    assert {key.method for key in study.read("trouble").current} == {"warns", "fine"}
    with pytest.raises(
        TrialsFailedError, match=r"trouble / coin / raises / trial 0: ZeroDivisionError: no such"
    ):
        study.evidence("trouble")
    failures = study.folder / "failures.txt"
    assert "misbehave" in failures.read_text()
    study.run(["table1"])
    assert not failures.exists()


def test_trial_that_kills_its_worker_fails_alone(root):
    report = open_fake(root, jobs=2).run(["trouble"])
    assert {job.methods[0] for job in report.failures} == {"raises", "nan", "kills"}
    (lost,) = (error for job, error in report.failures.items() if job.methods == ("kills",))
    assert "worker was lost" in lost


def test_worker_killed_once_is_replaced(root, tmp_path):
    change_params(root, 'marker: ""', f"marker: {tmp_path / 'mark'}")
    report = open_fake(root, jobs=2).run(["trouble"])
    assert {job.methods[0] for job in report.failures} == {"raises", "nan"}


def test_interrupt_stops_the_workers_and_keeps_what_is_done(root, request):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    study = open_fake(root, jobs=2)
    timer = []

    def interrupt(outcomes):
        if not timer:
            timer.append(threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)))
            timer[0].start()
            time.sleep(0.2)

    pool = process_pool(2)
    with pytest.raises(KeyboardInterrupt):
        execute(study.plan("table1").jobs(), pool, interrupt)
    timer[0].join()
    assert pool._executor is None
    assert study.evidence("table1").complete


def test_exhibit_of_timings_runs_in_one_process(root):
    study = open_fake(root, jobs=2)
    backend = study._backend(study.plan("timing").jobs(), alone=True)
    assert isinstance(backend, InProcess)
    assert study.evidence("timing").complete


@pytest.mark.parametrize("key", available_papers())
def test_every_trial_function_is_found_by_its_jobs(key):
    """Also one that is registered twice, for other methods on other datasets."""
    paper = load_paper(key)
    for exhibit, functions in paper.functions.items():
        for function in functions:
            job = Job(key, exhibit, function.name, "", 0, function.methods, {}, Stamp("", "", ""))
            assert find_trial(job) == (paper, function)


def test_worker_with_other_code_or_data_refuses(root):
    job = open_fake(root).plan("table1").jobs()[0]
    object.__setattr__(job, "stamp", Stamp("0000000000", job.stamp.params, job.stamp.data))
    with pytest.raises(WorkerMismatchError, match=r"code of 'draws': identity .*, expected 0000000000"):
        run_job(job)
    with pytest.raises(PlanError, match="code changed"):
        execute([job], InProcess(), lambda outcomes: None)
    job = open_fake(root).plan("table1").jobs()[0]
    object.__setattr__(job, "stamp", Stamp(job.stamp.code, job.stamp.params, "12345678"))
    with pytest.raises(WorkerMismatchError, match=r"data of 'coin': checksum generated, expected 12345678"):
        run_job(job)


def test_threads_are_pinned_in_workers_and_restored_here(root):
    (job,) = open_fake(root).plan("figure1").jobs()[:1]
    before = dict(os.environ)
    (outcome,) = process_pool(2).submit([job]).result()
    assert not outcome.error
    assert dict(os.environ) == before


class TestResults:
    EXHIBIT = Exhibit("table1", "t", metrics=("error", "curve"))

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (np.float64(0.5), 0.5),
            (3.0, 3),
            (np.int32(4), 4),
            (True, 1),
            (np.array([1.0, 2.5]), (1, 2.5)),
            ([3], (3,)),
            (-0.0, 0),
        ],
    )
    def test_numbers_become_plain(self, value, expected):
        plain = plain_value(value, "error")
        assert plain == expected
        assert type(plain) is type(expected)

    @pytest.mark.parametrize(
        "value", [float("nan"), float("inf"), "text", None, [[1.0]], [], [1.0, float("nan")]]
    )
    def test_other_values_are_refused(self, value):
        with pytest.raises((TypeError, ValueError), match="'error'"):
            plain_value(value, "error")

    @pytest.mark.parametrize(
        ("results", "word"),
        [
            (None, "mapping"),
            ({"other": {}}, "'plain'"),
            ({"plain": 3.0}, "metrics of 'plain'"),
            ({"plain": {}}, "metrics of 'plain'"),
            ({"plain": {"eror": 1.0}}, "'eror'"),
        ],
    )
    def test_undeclared_results_are_refused(self, results, word):
        with pytest.raises((TypeError, ValueError), match=word):
            checked_row(results, "plain", self.EXHIBIT)


@pytest.mark.parametrize(("text", "word"), [("zero", "KERNSEMBLE_JOBS"), ("0", "1 or more")])
def test_number_of_jobs_is_checked(monkeypatch, text, word):
    monkeypatch.setenv("KERNSEMBLE_JOBS", text)
    with pytest.raises(PlanError, match=word):
        number_of_jobs()


def test_unknown_scale_and_paper_are_named(root):
    with pytest.raises(PlanError, match="No scale 'huge'; there are paper, quick, smoke"):
        open_fake(root, "huge")
    from kernsemble.trials.study import Study

    with pytest.raises(PlanError, match="No paper 'linli2004'; there are bi2004"):
        Study("linli2004", "quick", root)
