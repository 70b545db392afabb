"""Evidence is computed once, says what is missing, and survives kills, damage and changed code."""

import re

import numpy as np
import pytest
from support.machinery import MODULE, change_params, open_fake, without_seconds

from kernsemble.report.reproduction import exhibit_lines
from kernsemble.trials.arithmetic import arithmetic
from kernsemble.trials.evidence import (
    EvidenceError,
    IncompleteEvidenceError,
    format_rows,
)
from kernsemble.trials.study import open_study


class TestStudy:
    def test_missing_rows_are_computed_once(self, root):
        study = open_fake(root)
        assert study.read("table1").status == "incomplete: 0 of 160 trials"
        evidence = study.evidence("table1")
        assert evidence.complete
        assert evidence.status == ""
        written = study.path("table1").read_bytes()
        assert open_fake(root).evidence("table1").complete
        assert study.path("table1").read_bytes() == written

    def test_values(self, root):
        evidence = open_fake(root).evidence("table1")
        sample = evidence.sample("error", dataset="coin", method="plain")
        assert sample.complete
        assert sample.values.shape == (10,)
        assert sample.se == pytest.approx(sample.values.std(ddof=1) / 10**0.5)
        array = evidence.array("error")
        assert array.shape == (10, 4, 4)
        np.testing.assert_array_equal(array[:, 0, 0], sample.values)
        frame = evidence.frame
        names = ["exhibit", "dataset", "method", "trial", "metric", "value", "complete"]
        assert list(frame.columns) == names
        assert set(frame.exhibit) == {"table1"}
        assert list(frame.dataset.unique()) == ["coin", "coin-n", "die", "a,b"]
        assert list(frame.method.unique()) == ["plain", "squared", "short", "long"]
        assert list(frame.metric.unique()) == ["error", "gap", "fit_seconds"]
        assert frame[frame.metric == "gap"].value.isna().sum() == 80
        assert frame.complete.all()
        cell = (frame.dataset == "coin") & (frame.method == "plain") & (frame.metric == "error")
        assert frame[cell].value.tolist() == sample.values.tolist()

    def test_paired_methods_share_their_draws(self, root):
        errors = open_fake(root).evidence("table1").array("error", ["coin"], ["plain", "long"])[:, 0]
        np.testing.assert_allclose(errors[:, 0] - 0.5, errors[:, 1], atol=0.05)
        assert not np.array_equal(errors[:, 0] - 0.5, errors[:, 1])

    def test_curves(self, root):
        evidence = open_fake(root).evidence("figure1")
        assert evidence.curves("curve", dataset="coin", method="descent").shape == (3, 5)
        assert [run.shape for run in evidence.runs("curve", "coin", "descent")] == [(5,)] * 3
        assert evidence.sample("steps", dataset="die", method="descent").values.tolist() == [5, 5]
        with pytest.raises(EvidenceError, match="holds arrays"):
            evidence.sample("curve", dataset="coin", method="descent")

    def test_unknown_metric_and_exhibit_are_named(self, root):
        study = open_fake(root)
        with pytest.raises(EvidenceError, match="no metric 'eror'; it has error, gap, fit_seconds"):
            study.evidence("table1").sample("eror", dataset="coin", method="plain")
        with pytest.raises(ValueError, match="no exhibit 'table9'; it has table1"):
            study.evidence("table9")

    def test_incomplete_array_raises_with_the_cell(self, root):
        evidence = open_fake(root, compute=False).evidence("table1")
        with pytest.raises(IncompleteEvidenceError, match="error of plain on coin has 0 of 10 runs"):
            evidence.array("error")

    def test_damaged_line_is_reported_and_recomputed(self, root, capsys):
        study = open_fake(root)
        study.evidence("table1")
        path = study.path("table1")
        sound = without_seconds(path)
        lines = path.read_text().splitlines(keepends=True)
        lines[7] = lines[7].replace("0.", "1.", 1)
        path.write_text("".join(lines))
        assert open_fake(root, compute=False).read("table1").file.damaged == [8]
        assert open_fake(root).evidence("table1").complete
        assert "line 8 is damaged" in capsys.readouterr().err
        assert without_seconds(path) == sound

    def test_duplicates_are_resolved(self, root):
        study = open_fake(root)
        study.evidence("figure1")
        path = study.path("figure1")
        sound = path.read_bytes()
        path.write_bytes(sound + sound.splitlines(keepends=True)[1])
        study.run(["figure1"])
        assert path.read_bytes() == sound

    def test_rows_that_contradict_each_other_are_named_and_computed_again(self, root, capsys):
        study = open_fake(root)
        study.evidence("figure1")
        path = study.path("figure1")
        sound = without_seconds(path)
        plan = study.plan("figure1")
        row = study.read("figure1").file.rows[0]
        other = row._replace(metrics={**row.metrics, "steps": "6"})
        path.write_bytes(path.read_bytes() + format_rows([other], plan.exhibit.columns))
        found = open_fake(root, compute=False).read("figure1")
        assert found.contradicted == [row.key]
        assert row.key not in found.current
        assert "1 twice with other numbers" in str(list(exhibit_lines(open_fake(root))))
        assert open_fake(root).evidence("figure1").complete
        assert f"{row.key} is there twice with other numbers" in capsys.readouterr().err
        assert without_seconds(path) == sound

    def test_two_rows_that_took_other_times_do_not_contradict_each_other(self, root):
        study = open_fake(root)
        study.evidence("table1")
        plan = study.plan("table1")
        row = study.read("table1").file.rows[0]
        other = row._replace(metrics={**row.metrics, "fit_seconds": "9"}, seconds=7.0)
        path = study.path("table1")
        path.write_bytes(path.read_bytes() + format_rows([other], plan.exhibit.columns))
        found = open_fake(root, compute=False).read("table1")
        assert (found.contradicted, found.current[row.key].seconds) == ([], 7.0)

    def test_row_says_where_it_was_computed(self, root):
        for jobs in (1, 2):
            study = open_fake(root, jobs=jobs)
            study.run(["table1"], fresh=True)
            (found,) = {row.provenance for row in study.read("table1").current.values()}
            assert re.fullmatch(r"[0-9a-f]{8}|other", found.lock)
            assert found.arithmetic == arithmetic()

    def test_rows_outside_the_plan_go_when_the_set_is_complete(self, root):
        study = open_fake(root)
        study.evidence("figure1")
        change_params(root, "runs: {default: 3, die: 2}", "runs: 2")
        smaller = open_fake(root)
        smaller.run(["figure1"])
        assert smaller.read("figure1").complete
        assert len(smaller.path("figure1").read_text().splitlines()) == 5

    def test_other_parameters_make_rows_stale(self, root):
        open_fake(root).evidence("table1")
        change_params(root)
        evidence = open_fake(root, compute=False).read("table1")
        assert evidence.status == "incomplete: 80 of 160 trials, 80 stale"
        frame = evidence.frame
        assert len(frame) == 160 * 3
        assert set(frame[frame.complete].method) == {"short", "long"}
        assert frame[~frame.complete].value.isna().all()
        assert evidence.is_complete("coin", "short", "long")
        assert not evidence.is_complete("coin", "short", "plain")
        assert not evidence.is_complete("nowhere", "short")
        assert evidence.require("coin", "short") is evidence
        with pytest.raises(IncompleteEvidenceError, match="plain on coin has 0 of 10 runs, 10 stale"):
            evidence.require("coin", "plain")
        with pytest.raises(IncompleteEvidenceError, match="table1: incomplete: 80 of 160 trials, 80 stale"):
            evidence.require()
        assert evidence.sample("error", dataset="coin", method="plain").stale == 10
        again = open_fake(root).evidence("table1")
        assert again.complete
        assert again.array("error", ["coin"], ["plain"]).mean() < 0.5

    def test_older_rows_are_shown_on_demand_and_said_to_be_older(self, root, monkeypatch, capsys):
        open_fake(root).evidence("table1")
        change_params(root)
        monkeypatch.setenv("KERNSEMBLE_OLDER", "1")
        monkeypatch.setenv("KERNSEMBLE_ROOT", str(root))
        study = open_study(MODULE, "paper")
        assert "Markdown" in capsys.readouterr().out
        assert study.evidence("table1").complete
        assert study.standing.stale == 0
        assert open_fake(root, compute=False).read("table1").status.endswith("80 of 160 trials, 80 stale")
        assert not study.evidence("figure1").current, "nothing is computed"

    def test_choices_and_protocol_are_at_hand(self, root):
        study = open_fake(root)
        assert study.protocol("table1") == {"n": 20, "bias": 0.5, "rule": "mean"}
        assert study.choices["rule"].explored == ("mean", "median")
