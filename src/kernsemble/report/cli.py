"""The command line. A mistake of the user gives a sentence, not a traceback."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernsemble.data.schema import shown
from kernsemble.trials.errors import FailedError, PlanError

if TYPE_CHECKING:
    from kernsemble.trials.study import Study

SMALLER = ("quick", "smoke")  # scales than the paper's
OK, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 failed, 2 wrong use, 130 interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if arguments[:1] == ["data"]:
            return data(arguments[1:])
        options = build_parser().parse_args(arguments)
        return options.command(options)
    except PlanError as error:
        return _complain(error, WRONG_USE)
    except BrokenPipeError:  # the reader had enough, as in `list | head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the interpreter flushes it at the end
        return OK
    except OSError as error:  # a full disk, a file that may not be read
        where = error.filename or f"temporary files ({os.environ.get('TMPDIR') or '/tmp'}) or shared memory"
        return _complain(f"{where}: {error.strerror}. Fix this and run the command again.", FAILED)
    except FailedError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return _complain(
            "stopped. What was computed is saved; the same command goes on from there.", INTERRUPTED
        )


def _complain(message: object, status: int) -> int:
    sys.stderr.write(f"kernsemble: {message}\n")
    return status


def say(*lines: str) -> None:
    """Write lines to standard output."""
    try:
        for line in lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands but ``data``, which has its own."""
    parser = argparse.ArgumentParser(
        prog="python -m kernsemble",
        description="Reproduce the papers, verify the committed evidence, write the ledger.",
        epilog="Environment: KERNSEMBLE_JOBS, KERNSEMBLE_CLUSTER and KERNSEMBLE_FRESH=1 stand in for the "
        "options; KERNSEMBLE_ROOT names the repository.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    about = "papers, exhibits, trials done, stale, and time left"
    one = _add(commands, list_papers, about, ("paper", "quick", "smoke"))
    _flags(one, why="say of stale rows what made them so")
    _add_jobs(one, "processes that the time left counts with")
    _add_reproduce(commands)
    one = _add(commands, verify, "compare computed trials with the committed evidence", SMALLER)
    _flags(
        one,
        compute="compute missing trials first, instead of counting them",
        strict="fail on stale and missing trials too, not only on other numbers",
    )
    receipt = "write what ran here, on what, and what agrees, as JSON"
    one.add_argument("--receipt", type=Path, metavar="FILE", help=receipt)
    _add_jobs(one)
    moved = "show which means a change of code or parameters moved, beside the committed"
    _flags(_add(commands, diff, moved, SMALLER), all="show means that did not change, too")
    sample = "compute a sample of the committed rows of older code again; if equal, they count"
    one = _add(commands, adopt, sample)
    _flags(
        one,
        dry_run="say what would be computed, and how long",
        bits="only rows equal to the last digit are equal",
    )
    _add_exhibit(one)
    _add_jobs(one)
    one = _add(commands, ledger, "judge every printed number and claim: results/paper/ledger.*", papers="")
    _flags(one, check="write nothing; fail when the files would change")
    _add(commands, fingerprint, "write what evidence must come from: results/fingerprints")
    _add_rank(commands)
    commands.add_parser("data", help="list, verify, build and fetch datasets (data --help)", add_help=False)
    return parser


def _add(
    commands: argparse._SubParsersAction,
    function: Callable,
    about: str,
    scales: Sequence[str] = (),
    papers: str = "*",
) -> argparse.ArgumentParser:
    """Add a command that takes papers (so many, or none), and one of some scales, by default the first."""
    name = function.__name__.removesuffix("_papers")
    command = commands.add_parser(name, help=about, description=about.capitalize() + ".")
    command.set_defaults(command=function)
    if papers:
        told = "papers (default: all)" if papers == "*" else "papers, or 'all'"
        command.add_argument("papers", nargs=papers, metavar="KEY", help=told)
    if scales:
        command.add_argument("--scale", choices=scales, default=scales[0], help=f"default: {scales[0]}")
    return command


def _flags(command: argparse._ActionsContainer, **about: str) -> None:
    for name, told in about.items():
        command.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=told)


def _add_jobs(command: argparse.ArgumentParser, about: str = "processes (default: all cores)") -> None:
    command.add_argument("--jobs", type=int, metavar="N", help=about)


def _add_exhibit(command: argparse.ArgumentParser) -> None:
    command.add_argument("--exhibit", action="append", metavar="NAME", help="only this exhibit (repeatable)")


def _add_reproduce(commands: argparse._SubParsersAction) -> None:
    about = "compute a paper's missing evidence, then run its notebook"
    command = _add(commands, reproduce, about, ("quick", "paper", "smoke"), papers="+")
    _flags(command, fresh="compute everything anew, from nothing")
    command.set_defaults(fresh=os.environ.get("KERNSEMBLE_FRESH", "") not in ("", "0"))
    _add_jobs(command)
    address, about = os.environ.get("KERNSEMBLE_CLUSTER"), "a Dask scheduler, such as tcp://10.0.0.1:8786"
    command.add_argument("--cluster", metavar="ADDRESS", default=address or None, help=about)
    _add_exhibit(command)
    _flags(
        command.add_mutually_exclusive_group(),
        no_notebook="compute evidence only",
        no_compute="render the notebook only; it says what evidence is missing",
        older="render only, and show rows of older code, too; it says so",
    )


def _add_rank(commands: argparse._SubParsersAction) -> None:
    about = "fit your own estimator on the arena's splits and set it beside the committed rows of all methods"
    command = _add(commands, rank, about, papers="")
    about = "what makes your classifier, or a list of configurations, the simplest first"
    command.add_argument("factory", metavar="MODULE:FACTORY", help=about)
    command.add_argument("--dataset", action="append", metavar="NAME", help="only this set (repeatable)")
    command.add_argument("--runs", type=int, metavar="N", help="folds of each set (default: all)")
    _add_jobs(command)
    about = "your rows (default: rank-FACTORY.csv, here)"
    command.add_argument("--out", type=Path, metavar="FILE", help=about)


def _keys(names: Sequence[str]) -> list[str]:
    """Return the papers that are asked for; all that are written by default."""
    from kernsemble.trials.registry import available_papers
    from kernsemble.trials.rooms import STUDIES

    for name in names:
        module = "." in name and len(name) < 200 and all(map(str.isidentifier, name.split(".")))
        if name not in (*STUDIES, "all") and not module:
            raise PlanError(f"No paper {shown(name)}; there are {', '.join(STUDIES)}, and 'all'.")
    return list(available_papers()) if not names or "all" in names else list(names)


def _studies(options: argparse.Namespace, scale: str = "", **more: Any) -> list[Study]:
    """Open the papers that are asked for, at the scale of the options or another."""
    from kernsemble.trials.study import Study, find_root, number_of_jobs

    keys, root = _keys(options.papers), find_root()
    jobs = number_of_jobs(options.jobs) if "jobs" in options else 1
    return [Study(key, scale or options.scale, root, jobs=jobs, **more) for key in keys]


def data(arguments: Sequence[str]) -> int:
    """Hand over to the commands on datasets, which look after the data of the clone that runs."""
    from kernsemble.data.cli import main as data_main
    from kernsemble.trials.study import refuse_other_code

    refuse_other_code(Path.cwd())
    return data_main(arguments, prog="python -m kernsemble data")


def list_papers(options: argparse.Namespace) -> int:
    """Show papers and exhibits: trials done, stale, time left."""
    from kernsemble.report.reproduction import exhibit_lines
    from kernsemble.trials.rooms import PAPERS

    studies = _studies(options, compute=False)
    for study in studies:
        for line in exhibit_lines(study, why=options.why):
            say(line)
    opened = {study.key for study in studies}
    for key in [] if options.papers else [key for key in PAPERS if key not in opened]:
        say(f"{key}: no trials yet")
    return OK


def reproduce(options: argparse.Namespace) -> int:
    """Compute evidence and render the notebook of each paper; go on with the others when one fails."""
    from kernsemble.report.reproduction import Summary, check_before, reproduce_paper
    from kernsemble.trials.evidence import only_writer

    given = {"cluster": options.cluster, "compute": not options.no_compute, "older": options.older}
    studies, notebook = _studies(options, **given), not options.no_notebook
    check_before(studies, options.exhibit or (), notebook=notebook)
    summary, several = Summary(), len(studies) > 1
    with only_writer(studies[0].root / "results" / options.scale) if several else nullcontext():
        for study in studies:
            try:
                reproduce_paper(
                    study, summary, fresh=options.fresh, exhibits=options.exhibit, notebook=notebook
                )
            except (PlanError, FailedError) as error:
                if not several:
                    raise
                summary.failed[study.key] = str(error)
    say(*summary.lines(options.scale))
    return FAILED if summary.failed or summary.total.differ else OK


def verify(options: argparse.Namespace) -> int:
    """Compare trials computed here with the committed evidence."""
    from kernsemble.report.receipt import receipt_text
    from kernsemble.report.reproduction import Summary, compare
    from kernsemble.trials.study import raise_on_failures

    studies, summary = _studies(options), Summary()
    for study in studies:
        if options.compute:
            raise_on_failures(study.run())
        compare(study, summary)
    say(*summary.lines(options.scale))
    if options.receipt:
        options.receipt.parent.mkdir(parents=True, exist_ok=True)
        options.receipt.write_text(receipt_text(studies, summary.agreements), encoding="utf-8")
        say(f"receipt: {options.receipt}")
    return OK if (summary.all_agree if options.strict else summary.nothing_differs) else FAILED


def diff(options: argparse.Namespace) -> int:
    """Show the means that a change moved."""
    from kernsemble.report.changes import change_lines, changes

    status = OK
    for study in _studies(options, compute=False):
        found = list(changes(study, study.committed))
        if not found:
            status = FAILED
            say(
                f"{study.module}: no trial at {options.scale} scale has been computed by today's code and "
                f"parameters. Run: python -m kernsemble reproduce {study.module} --scale {options.scale} "
                "--no-notebook"
            )
            continue
        say(f"{study.module}, {options.scale} scale, the same trials here and committed:")
        for line in change_lines(found, every=options.all):
            say(f"  {line}")
    return status


def adopt(options: argparse.Namespace) -> int:
    """Adopt rows that older code has computed, where a sample comes out equal."""
    from kernsemble.trials.adoption import adopt_paper

    all_well, studies = True, _studies(options, "paper")
    given = {"exhibits": options.exhibit, "dry_run": options.dry_run, "equal_bits": options.bits}
    for study, name in product(studies, options.exhibit or ()):
        study.plan(name)  # names what is unknown before anything is computed
    for study in studies:
        for line, well in adopt_paper(study, **given):
            say(line)
            all_well &= well
    return OK if all_well else FAILED


def rank(options: argparse.Namespace) -> int:
    """Set somebody's own estimator beside the committed rows; the room that has them says how."""
    from importlib import import_module

    from kernsemble.trials.rooms import STUDIES, modules_with, open_rooms
    from kernsemble.trials.study import Study, find_root, number_of_jobs

    open_rooms()
    ((key, module),) = [(key, name) for key in STUDIES for name in modules_with(key, "def rank(")]
    study = Study(key, "paper", find_root(), older=True)
    if options.runs is not None and options.runs < 1:
        raise PlanError(f"runs is {options.runs}; it must be 1 or more.")
    lines = import_module(module).rank(
        options.factory,
        study,
        datasets=options.dataset,
        runs=options.runs,
        jobs=number_of_jobs(options.jobs),
        out=options.out,
    )
    for line in lines:
        say(line)
    return OK


def ledger(options: argparse.Namespace) -> int:
    """Write the ledger, or check that the committed one is current."""
    from kernsemble.report.ledger import (
        committed_studies,
        judge_all,
        ledger_files,
        ledger_summary,
        standings,
        totals,
        update_readme,
    )
    from kernsemble.trials.study import find_root

    root = find_root()
    studies = committed_studies(root)
    rows, evidence = judge_all(root, studies=studies), standings(studies.values())
    folder: Path = root / "results" / "paper"
    say(*ledger_summary(totals(rows)), str(evidence["overall"]))
    changed = ledger_files(rows, folder, evidence, write=not options.check)
    if update_readme(rows, root / "README.md", f"{evidence['overall']}.", write=not options.check):
        changed.append("README.md")
    if not options.check:
        from kernsemble.report.ledger_figures import save_ledger_figures

        save_ledger_figures(rows, folder)
    elif changed:
        return _complain(f"{', '.join(changed)} out of date; to update: python -m kernsemble ledger", FAILED)
    return OK


def fingerprint(options: argparse.Namespace) -> int:
    """Write what evidence must come from; DVC compares it with what the committed evidence came from."""
    from kernsemble.trials.study import find_root, write_fingerprints

    for key in write_fingerprints(_keys(options.papers), find_root()):
        say(f"{key}: the code, parameters or data behind its trials have changed")
    return OK
