"""Bars on the terminal: what they count, what they show in which room, and what the terminal has at the end."""

import fcntl
import io
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT
from mentions import mentions
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent

from heuristic_core.common.progress import Progress, read_progress
from snakemake_logger_plugin_screen import can_draw
from snakemake_logger_plugin_screen.lines import Lines
from snakemake_logger_plugin_screen.messages import message
from snakemake_logger_plugin_screen.run import Run
from snakemake_logger_plugin_screen.screen import picture

METER = "10:00:05 finetune  45% 810/1800 [00:12<00:14, 67.50 steps/s, loss 0.1]\n"


def record(event=None, text="", level=logging.INFO, **fields):
    made = logging.LogRecord("snakemake", level, "", 0, text, (), None)
    vars(made).update(event=event, **fields)
    return made


@pytest.fixture
def run():
    made = Run()
    made.handle(
        record(LogEvent.RUN_INFO, stats={"finetune": 2, "prune_42_43": 3, "prune_44": 1, "core": 1, "total": 7})
    )
    return made


def begin(run, number, rule, *logs):
    run.handle(record(LogEvent.JOB_INFO, jobid=number, rule_name=rule, log=list(logs)))


def screen_lines(run, width=100, height=30):
    console = Console(file=io.StringIO(), width=width, height=height)
    console.print(picture(run, width, height, time.time() + 3661))
    return console.file.getvalue().splitlines()


def test_rules_of_blocks_of_seeds_are_one_bar_and_jobs_are_counted(run):
    for number, rule in enumerate(("prune_42_43", "prune_44", "finetune")):
        begin(run, number, rule)
    run.handle(record(LogEvent.JOB_FINISHED, job_id=0))
    run.handle(record(LogEvent.PROGRESS, done=1, total=7))
    whole, prune, finetune, rest = screen_lines(run)
    assert mentions(whole, "1/7", "1:01:01", 2)
    assert mentions(prune, "prune", "1/4", 1) and mentions(finetune, "finetune", "0/2", 1)
    assert mentions(rest, 1)


def test_a_job_that_failed_runs_no_more_and_can_be_tried_again(run):
    begin(run, 1, "finetune")
    run.handle(record(LogEvent.JOB_ERROR, jobid=1))
    assert "running" not in screen_lines(run)[1]
    begin(run, 1, "finetune")
    begin(run, 1, "finetune")
    assert "1 running" in screen_lines(run)[1]
    run.handle(record(LogEvent.GROUP_ERROR, job_error_info=[{"jobid": 1}, {"jobid": 9}]))
    assert re.match(r"finetune +0/2", screen_lines(run)[1]) and "running" not in screen_lines(run)[1]


def test_the_progress_of_a_running_job_is_part_of_its_bar_and_is_quoted(run, tmp_path):
    log = tmp_path / "log"
    log.write_text("10:00:00 started\n" + METER.replace("45%", "12%") + METER)
    begin(run, 1, "finetune", str(tmp_path / "none"), str(log))
    (rule,) = run.select(9)
    assert rule.running[0].advance().fraction == 0.45
    assert mentions(screen_lines(run)[1], 1, "finetune", "810/1800 [00:12<00:14")
    os.utime(log, (1, 1))  # of an earlier run
    assert rule.running[0].advance() is None and read_progress(log, 0).fraction == 0.45


def test_an_evaluation_in_a_thread_is_not_the_progress_of_its_job(caplog):
    def run_loop(name):
        Progress(name, 1).update(1)

    with caplog.at_level(logging.INFO, "heuristic_core"), ThreadPoolExecutor(1) as thread:
        thread.submit(run_loop, "evaluate").result()
        run_loop("finetune")
    assert [line.split()[0] for line in caplog.messages] == ["finetune"]


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (40, 8), (20, 4)])
def test_the_picture_is_smaller_than_the_terminal(tmp_path, size):
    width, height = size
    (tmp_path / "log").write_text(METER.replace("0.1", "0.1" * 99))
    run = Run()
    run.handle(record(LogEvent.RUN_INFO, stats={f"a_rule_of_a_long_name_{letter}": 4 for letter in "abcdefghijk"}))
    for number, rule in enumerate(list(run.rules) * 3):
        begin(run, number, rule, str(tmp_path / "log"))
    lines = screen_lines(run, width, height)
    assert len(lines) < height and all(len(line) < width for line in lines)
    without_line = len(run.rules) - (len(lines) - 2)  # beside them are the line of all jobs and the last one
    assert mentions(lines[-1], without_line) == (height < 14)


def test_where_room_is_short_running_rules_come_first_in_the_order_of_their_beginning(run):
    for number, rule in enumerate(("core", "finetune", "prune_44")):
        begin(run, number, rule)
    run.handle(record(LogEvent.JOB_FINISHED, job_id=0))
    run.handle(record(LogEvent.JOB_FINISHED, job_id=1))
    assert [rule.name for rule in run.select(9)] == ["core", "finetune", "prune"]
    assert [rule.name for rule in run.select(2)] == ["finetune", "prune"]
    assert [rule.name for rule in run.select(1)] == ["prune"] and run.select(-1) == []


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (record(LogEvent.JOB_ERROR, rule_name="core", log=["a.log"]), ("core", "a.log")),
        (record(LogEvent.GROUP_ERROR, job_error_info=[{"rule_name": "a", "log": []}]), ("a",)),
        (record(LogEvent.ERROR, level=logging.ERROR, exception="RuleException"), None),
        (record(LogEvent.ERROR, level=logging.ERROR, exception="WorkflowError"), ("text",)),
        (record(level=logging.WARNING), ("text",)),
        (record(), ("text",)),
        (record(LogEvent.JOB_INFO), None),
    ],
)
def test_what_bars_show_is_not_said_beside(made, expected):
    shown_beside = message(made, "text")
    assert shown_beside is None if expected is None else mentions(shown_beside, *expected)


def test_bars_need_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not can_draw()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert can_draw()
    monkeypatch.setenv("TERM", "dumb")
    assert not can_draw()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("snakemake_logger_plugin_screen.find_spec", lambda name: None)  # rich is not installed
    assert not can_draw()


def test_without_a_terminal_lines_have_the_progress_and_the_files_of_figures(monkeypatch, tmp_path):
    file, log = io.StringIO(), tmp_path / "finetune.log"
    monkeypatch.setattr("snakemake_logger_plugin_screen.lines.INTERVAL", 0.05)
    lines = Lines(file)

    def printed(*arguments, **fields):
        before = file.getvalue()
        lines.handle(record(*arguments, **fields), "text")
        new = file.getvalue().removeprefix(before).splitlines()
        return [line for line in new if "running:" not in line]

    (first,) = printed(LogEvent.RUN_INFO, stats={"finetune": 1, "figure10": 1, "total": 2})
    assert mentions(first, 2) and lines.started
    outputs = ["f/figure10.pdf", "f/figure10.png"]
    assert printed(LogEvent.JOB_INFO, jobid=1, rule_name="figure10", output=outputs, log=["a.log"]) == []
    assert printed(LogEvent.JOB_FINISHED, job_id=1) == ["figure10: f/figure10.png"]
    assert printed(LogEvent.PROGRESS, done=1, total=2) == []
    printed(LogEvent.JOB_INFO, jobid=2, rule_name="finetune", output=["weights"], log=[log])
    log.write_text("12:00:12 finetune  45% 810/1800 [00:12<00:14, 30.00 steps/s]\n")
    time.sleep(0.5)  # no event: the progress is printed all the same
    assert mentions(file.getvalue().splitlines()[-1], 1, 2, "finetune", "45%")
    assert printed(LogEvent.JOB_FINISHED, job_id=2) == []
    assert printed(LogEvent.JOB_ERROR, rule_name="core", jobid=3, log=["b.log"]) == ["text"]  # in full
    assert printed(level=logging.WARNING) == []  # the same message again
    lines.end()
    last = file.getvalue()
    assert mentions(last.splitlines()[-1], 1, 2)
    time.sleep(0.2)
    assert file.getvalue() == last


SNAKEFILE = """
shell.prefix('source {root}/workflow/jobs.sh; ')

rule good:
    output: "good"
    shell: "echo noise >&2; touch {{output}}"

rule bad:
    input: "good"
    output: "bad"
    log: "bad.log"
    shell: "echo the reason >&2; echo failed >{{log}}; exit 1"

onerror:
    import atexit
    atexit.register(print, "the last block")
"""


def terminal(folder, *arguments, size=(24, 80)):
    """What Snakemake writes to a terminal, and its exit status."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--max-jobs-per-timespan",
        "200/1s",
        "--workflow-profile",
        str(ROOT / "profiles/default"),
    ]
    process = subprocess.Popen(
        [*command, *arguments], cwd=folder, env=os.environ | {"TERM": "xterm"}, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    output = b""
    while True:
        try:
            output += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            os.close(ours)
            return output.decode(), process.wait()


@pytest.mark.slow
def test_the_terminal_keeps_failures_and_ends_with_their_block(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(root=ROOT))
    output, status = terminal(tmp_path, "bad")
    kept = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output)
    assert status == 1 and output.rindex("\x1b[?25h") > output.rindex("\x1b[?25l")  # the cursor is there again
    assert "rule good:" not in kept and "RuleException" not in kept
    *_, ended, last = kept.strip().splitlines()
    assert kept.index("the reason") < kept.index("bad.log") < kept.rindex(ended)
    assert re.search(r"\b1 .*\b2 .*0:00:\d\d", ended) and last == "the last block"  # 1 of 2 jobs, and how long it took
