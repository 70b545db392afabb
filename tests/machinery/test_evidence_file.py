"""The file of an exhibit: what is written comes back, and no damage goes unnoticed."""

import errno
import os
import subprocess
import sys
import zlib
from contextlib import contextmanager
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernsemble.trials.arithmetic import Provenance
from kernsemble.trials.evidence import (
    EvidenceError,
    Row,
    Store,
    format_file,
    format_rows,
    format_value,
    keep_rows,
    only_writer,
    read_rows,
    write_atomically,
)
from kernsemble.trials.plan import Key, Stamp
from kernsemble.trials.warrants import Warrants

STAMP = Stamp("rev", "par", "dat")
METRICS = ("error", "gap")


def row(number=0, dataset="coin", method="plain", stamp=STAMP, **metrics):
    metrics = metrics or {"error": "0.1", "gap": "1e-09"}
    return Row(Key(dataset, method, number), metrics, 0.25, stamp)


def read(folder, data, metrics=METRICS):
    """What a file with these bytes, or rows, gives."""
    path = folder / "e.csv"
    path.write_bytes(data if isinstance(data, bytes) else format_file(data, METRICS))
    return read_rows(path, metrics)


class TestFile:
    def test_rows_come_back(self, tmp_path):
        rows = [row(1), row(0, dataset="a,b", method='L,"Q"'), row(2, error="3"), row(10), row(9)]
        rows.append(row(3)._replace(provenance=Provenance("0123abcd", "openblas-1 Haswell x86_64")))
        found = read(tmp_path, rows)
        assert found == (sorted(rows, key=lambda r: r.key), [], True)
        assert pd.read_csv(tmp_path / "e.csv").columns[-7:].tolist() == [
            *("seconds", "code", "lock", "arithmetic", "params", "data", "check")
        ]
        assert not read_rows(tmp_path / "none.csv", METRICS).rows
        assert read_rows(tmp_path / "none.csv", METRICS).clean

    def test_names_of_metrics_may_contain_commas(self, tmp_path):
        metrics = ("error_L", "error_L,Q", 'the "gap"')
        rows = [Row(Key("coin", "plain", 0), dict.fromkeys(metrics, "1.5"), 0.25, STAMP)]
        assert read(tmp_path, format_file(rows, metrics), metrics) == (rows, [], True)
        assert pd.read_csv(tmp_path / "e.csv").columns[3:6].tolist() == list(metrics)

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_numbers_round_trip(self, number):
        assert float(format_value(number)) == number

    def test_line_break_in_a_name_is_refused(self):
        with pytest.raises(EvidenceError, match="line break"):
            format_rows([row(dataset="a\nb")], METRICS)

    @pytest.mark.parametrize("cut", [1, 5, 30])
    def test_half_written_last_line_is_noticed(self, tmp_path, cut):
        assert read(tmp_path, format_file([row(0), row(1)], METRICS)[:-cut]) == ([row(0)], [3], False)

    @settings(max_examples=300, deadline=None)
    @given(st.data())
    def test_no_damaged_byte_goes_unnoticed(self, tmp_path_factory, data):
        rows = [row(0), row(1, error="0.5"), row(2)]
        sound = format_file(rows, METRICS)
        position = data.draw(st.integers(0, len(sound) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda b: b != sound[position]))
        damaged = sound[:position] + bytes([byte]) + sound[position + 1 :]
        contents = read(tmp_path_factory.getbasetemp(), damaged)
        assert not contents.clean
        assert all(found in rows for found in contents.rows)
        in_header = position < sound.index(b"\n") + 1
        assert len(contents.rows) >= (2 if in_header else 1)

    @settings(max_examples=200, deadline=None)
    @given(noise=st.binary(max_size=200))
    def test_any_bytes_are_read_without_a_crash(self, tmp_path_factory, noise):
        assert read(tmp_path_factory.getbasetemp(), noise).rows == []

    def test_windows_line_ends_are_read(self, tmp_path):
        assert read(tmp_path, format_file([row(0)], METRICS).replace(b"\n", b"\r\n")).rows == [row(0)]

    def test_metric_that_is_gone_is_left_out_and_a_new_one_is_absent(self, tmp_path):
        (found,) = read(tmp_path, [row(0)], ("gap", "fresh", "error", "other")).rows
        assert found.metrics == {"error": "0.1", "gap": "1e-09"}
        (found,) = read(tmp_path, [row(0)], ("error",)).rows
        assert found.metrics == {"error": "0.1"}

    @pytest.mark.parametrize(
        "change", [("error,gap", "gap,error"), ("error", "eror"), ("gap,", ""), ("check", "x")]
    )
    def test_damaged_header_is_named_and_no_row_is_lost(self, tmp_path, change):
        text = format_file([row(0), row(1)], METRICS).decode().replace(*change, 1)
        assert read(tmp_path, text.encode()) == ([row(0), row(1)], [1], False)

    def test_rows_of_another_layout_are_damage(self, tmp_path):
        """As they were before the lock and the arithmetic were recorded: their checks are right."""
        header, body = (
            b"dataset,method,trial,error,seconds,code,params,data,check",
            b"a,b,0,0.1,1,rev,par,dat",
        )
        check = b"%08x" % zlib.crc32(body, zlib.crc32(header))
        assert read(tmp_path, b"%s\n%s,%s\n" % (header, body, check)) == ([], [1, 2], False)

    def test_older_header_is_no_damage(self, tmp_path):
        assert read(tmp_path, [row(0)], (*METRICS, "fresh")) == ([row(0)], [], False)

    @pytest.mark.parametrize("first", [0, 1])
    def test_lines_of_two_headers_in_one_file_are_read_under_their_own(self, tmp_path, first):
        files = [format_file([row(0)], METRICS), format_file([row(1, gap="2")], ("gap",))]
        contents = read(tmp_path, files[first] + files[1 - first], ("gap",))
        assert [found.metrics["gap"] for found in contents.rows] == [["1e-09", "2"], ["2", "1e-09"]][first]
        assert contents.damaged == [3]  # the second header

    @pytest.mark.parametrize(
        ("attributes", "damaged"), [("", [3, 6, 9]), ("*.csv merge=union\n", [])], ids=["markers", "union"]
    )
    def test_merge_of_two_branches_loses_no_row(self, tmp_path, attributes, damaged):
        """Git leaves its markers, or the rows of both: one trial has other numbers on either branch."""
        path = tmp_path / "e.csv"
        (tmp_path / ".gitattributes").write_text(attributes)

        def git(*words):
            who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
            subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True)

        def commit(*rows):
            path.write_bytes(format_file([row(0)], METRICS) + format_rows(rows, METRICS))
            git("add", ".")
            git("commit", "--message", "rows")

        git("init", "--initial-branch", "one")
        commit()
        git("checkout", "-b", "two")
        commit(row(2), row(3))
        git("checkout", "one")
        commit(row(1), row(3, gap="7"))
        git("merge", "two")
        contents = read_rows(path, METRICS)
        numbers = sorted(
            (found.key.trial, found.metrics["gap"]) for found in contents.rows if found.key.trial
        )
        assert numbers == [(1, "1e-09"), (2, "1e-09"), (3, "1e-09"), (3, "7")]
        assert contents.damaged == damaged

    def test_long_curve_is_read(self, tmp_path):
        curve = format_value(tuple(n / 7 for n in range(20_000)))
        assert read(tmp_path, [row(0, error=curve)]).rows[0].metrics["error"] == curve

    @pytest.mark.parametrize("text", ["abc", "0.1 nan", "1e", "1,5", "--1", "٣"])
    def test_metric_that_is_no_number_is_damage_whatever_its_check(self, tmp_path, text):
        assert read(tmp_path, [row(0, error=text), row(1)]) == ([row(1)], [2], False)

    def test_trial_of_endless_digits_is_damage(self, tmp_path):
        assert read(tmp_path, [row("9" * 5000, dataset="a"), row(1)]).damaged == [2]

    def test_many_rows_load(self, tmp_path):
        data = format_file([row(n) for n in range(30_000)], METRICS)
        assert len(read(tmp_path, data).rows) == 30_000


class TestRowsThatFellOut:
    def test_they_are_kept_once_and_the_oldest_go(self, tmp_path):
        path = tmp_path / "cache" / "e.csv"
        keep_rows(path, [], METRICS)
        assert not path.exists()
        keep_rows(path, [row(0), row(1)], METRICS)
        keep_rows(path, [row(1), row(1, stamp=Stamp("other", "par", "dat")), row(2)], METRICS, at_most=3)
        kept = read_rows(path, METRICS)
        assert [(found.key.trial, found.stamp.code) for found in kept.rows] == [
            (1, "rev"),
            (1, "other"),
            (2, "rev"),
        ]
        assert kept.clean

    def test_damage_loses_one_row_only(self, tmp_path):
        path = tmp_path / "e.csv"
        keep_rows(path, [row(0), row(1)], METRICS)
        path.write_bytes(path.read_bytes()[:-5])
        keep_rows(path, [row(2)], METRICS)
        assert [found.key.trial for found in read_rows(path, METRICS).rows] == [0, 2]


@contextmanager
def appending(path):
    """Append rows as a study does."""
    plan = SimpleNamespace(exhibit=SimpleNamespace(columns=METRICS, metrics=METRICS), stamps={})
    store = Store(path, path.with_name("fallen.csv"), plan, Warrants())
    with store.append(store.read()) as append:
        yield append


class TestWriter:
    def test_append_is_on_disk_when_it_returns(self, tmp_path):
        path = tmp_path / "deep" / "e.csv"
        with appending(path) as append:
            append([row(0)])
            assert read_rows(path, METRICS).rows == [row(0)]
            append([row(1), row(2)])
        assert len(read_rows(path, METRICS).rows) == 3

    def test_unclean_file_is_repaired_first(self, tmp_path):
        read(tmp_path, format_file([row(0)], METRICS) + b"half a li")
        with appending(tmp_path / "e.csv") as append:
            append([row(1)])
        assert read_rows(tmp_path / "e.csv", METRICS) == ([row(0), row(1)], [], True)

    def test_full_disk_leaves_no_half_line(self, tmp_path, monkeypatch):
        path, real = tmp_path / "e.csv", os.write

        def write_some(file, data):
            if len(data) < 20:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(file, data[:10])

        with appending(path) as append:
            append([row(0)])
            monkeypatch.setattr(os, "write", write_some)
            with pytest.raises(EvidenceError, match="disk is full"):
                append([row(1)])
            monkeypatch.undo()
        assert read_rows(path, METRICS) == ([row(0)], [], True)

    def test_atomic_write_leaves_equal_bytes_alone_and_no_litter(self, tmp_path):
        path = tmp_path / "e.csv"
        write_atomically(path, b"a")
        before = path.stat().st_mtime_ns
        write_atomically(path, b"a")
        assert path.stat().st_mtime_ns == before
        write_atomically(path, b"b")
        assert path.read_bytes() == b"b"
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
    def test_read_only_folder_is_explained(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(EvidenceError, match="permission denied"):
            write_atomically(tmp_path / "e.csv", b"a")

    def test_error_of_the_file_system_is_explained(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(EvidenceError, match="cannot be written"):
            write_atomically(tmp_path / "file" / "e.csv", b"a")


HOLD = """
import sys, time
from pathlib import Path
from kernsemble.trials.evidence import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


class TestLock:
    def test_second_writer_is_refused_and_a_dead_one_is_no_hindrance(self, tmp_path):
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert holder.stdout.readline() == "held\n"
            refused = pytest.raises(EvidenceError, match=f"Another run .process {holder.pid}. is writing")
            with refused, only_writer(tmp_path):
                pass
            holder.kill()
            holder.wait()
            with only_writer(tmp_path):
                pass
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()
        assert list(tmp_path.iterdir()) == []

    def test_files_left_by_a_killed_writer_are_removed(self, tmp_path):
        (tmp_path / ".e.csv.123.tmp").write_text("half")
        with only_writer(tmp_path):
            pass
        assert list(tmp_path.iterdir()) == []
