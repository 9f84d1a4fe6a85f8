"""What the terminal ends with when jobs failed."""

import logging
import os
import re

import pytest
from mentions import mentions
from reduced import REDUCED, snakemake
from snakemake_interface_logger_plugins.common import LogEvent

from heuristic_core.common.progress import LogFormatter
from heuristic_core.experiments.registry import load_experiment
from heuristic_core.jobs.failures import ADVICE, INTERNAL_ERROR, NO_MESSAGE, FailureHandler, failure_message


@pytest.fixture
def failures():
    return FailureHandler()


def tell(failures, event, **fields):
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
    vars(record).update(event=event, **fields)
    failures.emit(record)


def log(path, text):
    path.write_text(text)
    return str(path)


def failed(failures, job, rule, *logs):
    tell(failures, LogEvent.JOB_ERROR, jobid=job, rule_name=rule, log=list(logs))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10:00:00 started\n10:00:01 failed: a.csv: no column\n10:00:01 ended after 1 s\n", "a.csv: no column"),
        ("10:00:01 failed: x cannot be run:\n  a\n  b\n", "x cannot be run:\n  a\n  b"),
        ("10:00:01 failed: first\n10:00:02 failed: last\n", "last"),
        (
            "10:00:01 failed: 'x'\nTraceback (most recent call last):\n  File a\nKeyError: 'x'\n10:00:02 ended\n",
            f"KeyError: 'x'\n{INTERNAL_ERROR}",
        ),
        ("figure15 is of roberta\n", "figure15 is of roberta"),
        ("10:00:00 started\n", NO_MESSAGE),
        ("", NO_MESSAGE),
    ],
)
def test_the_message_of_a_job_is_the_last_reason_in_its_log(tmp_path, text, message):
    assert failure_message([log(tmp_path / "log", text)]) == message


def test_a_log_that_is_not_there_or_is_no_text_is_no_error(tmp_path):
    (tmp_path / "log").write_bytes(b"\xff\xfe")
    assert failure_message([str(tmp_path / "none")]) == NO_MESSAGE and failure_message([]) == NO_MESSAGE
    assert failure_message([str(tmp_path / "log")])


def test_without_a_failed_job_nothing_is_told(failures):
    assert failures.format_summary(1, 2) is None


def test_jobs_with_the_same_message_share_it(failures, tmp_path):
    same = [log(tmp_path / name, "10:00:01 failed: no memory\n") for name in "ab"]
    failed(failures, 1, "prune_42", same[0])
    failed(failures, 2, "prune_43", same[1])
    failed(failures, 3, "encode")
    first, *parts = failures.format_summary(4, 9).strip().split("\n\n")
    assert mentions(first, 3, 4, 9)
    assert parts == [
        f"prune_42: {same[0]}\nprune_43: {same[1]}\n    no memory",
        f"encode\n    {NO_MESSAGE}",
        ADVICE,
    ]


def test_a_job_that_did_well_when_tried_again_did_not_fail(failures, tmp_path):
    failed(failures, 1, "prune", log(tmp_path / "a", "10:00:01 failed: once\n"))
    tell(failures, LogEvent.JOB_FINISHED, job_id=1)
    assert failures.format_summary(0, 1) is None


def test_the_log_of_an_earlier_run_is_not_taken_for_the_reason(failures, tmp_path):
    old = log(tmp_path / "log", "10:00:01 failed: long ago\n")
    os.utime(old, (1, 1))
    failed(failures, 1, "encode", old)
    assert "long ago" not in failures.format_summary(0, 1) and NO_MESSAGE in failures.format_summary(0, 1)


def test_of_a_group_the_jobs_that_failed_are_told(failures, tmp_path):
    logs = {"one": "10:00:01 ended\n", "two": "10:00:01 failed: of two\n"}
    jobs = [
        {"jobid": i, "rule_name": name, "log": [log(tmp_path / name, text)]}
        for i, (name, text) in enumerate(logs.items())
    ]
    tell(failures, LogEvent.GROUP_ERROR, job_error_info=jobs)
    summary = failures.format_summary(0, 1)
    assert mentions(summary.strip().splitlines()[0], 1) and "two: " in summary and "one: " not in summary
    ended = FailureHandler()
    tell(ended, LogEvent.GROUP_ERROR, job_error_info=jobs[:1])
    assert "one: " in ended.format_summary(0, 1) and NO_MESSAGE in ended.format_summary(0, 1)


@pytest.mark.slow
def test_the_terminal_ends_with_what_a_target_says_that_the_study_cannot_have(tmp_path):
    done = snakemake(tmp_path, "--", "figure15", config=REDUCED, check=False)
    output = (done.stdout + done.stderr).split("WorkflowError")[-1]
    assert done.returncode == 1 and output.strip().endswith(ADVICE)
    _, reason = output.split("figure15: results/reduced/logs/figures/figure15.log\n")
    assert mentions(reason.splitlines()[0], "figure15", "roberta")


@pytest.mark.slow
@pytest.mark.parametrize(
    "quiet",
    [
        ("--quiet", "all"),
        *(pytest.param(words, marks=pytest.mark.slow) for words in [(), ("--quiet",), ("--quiet", "progress")]),
    ],
)
def test_how_far_a_run_came_is_told_however_quiet_it_is(tmp_path, quiet):
    done = snakemake(tmp_path, *quiet, "--keep-going", "--", "figure15", "describe", check=False)
    assert done.returncode == 1
    assert any(re.findall(r"\d+", line) == ["1", "1", "2"] for line in done.stderr.splitlines())  # failed, done, all


@pytest.mark.parametrize("job", ["sentences", "encode"])
def test_warnings_of_the_data_are_marked_in_their_log_and_end_the_terminal(tmp_path, job):
    path = tmp_path / "small" / "logs" / f"{job}.log"
    path.parent.mkdir(parents=True)
    handler = logging.FileHandler(path)
    handler.setFormatter(LogFormatter())
    for level, message in ((logging.INFO, "3 rows"), *2 * [(logging.WARNING, "no pair has the label 'neutral'")]):
        handler.emit(logging.LogRecord("x", level, "", 0, message, (), None))
    handler.close()
    lines = ["3 rows", *2 * ["warning: no pair has the label 'neutral'"]]
    assert [line[9:] for line in path.read_text().splitlines()] == lines
    experiment = load_experiment({})
    (warning,) = experiment.list_warnings(str(tmp_path / "small"))
    assert mentions(warning, "small", "no pair has the label 'neutral'", path)
    assert experiment.list_warnings(str(tmp_path / "none")) == []
