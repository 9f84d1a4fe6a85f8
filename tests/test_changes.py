"""`make changes` tells a person what changed, in the words of the configuration and of the checkout."""

import json
import os
import re
import subprocess
import sys
from functools import reduce

import pytest
from conftest import CLAIMS, EXPERIMENT
from mentions import mentions
from reduced import ROOT, clone

from heuristic_core.common.hashing import file_digest
from heuristic_core.config.reading import _descend
from heuristic_core.experiments.registry import load_experiments
from heuristic_core.experiments.subnetworks.config.context import KEYS, Context
from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.plan.jobs import PlannedJob
from heuristic_core.provenance.changes.causes import find_causes
from heuristic_core.provenance.changes.code import find_changed_code
from heuristic_core.provenance.changes.explain import MAX_CAUSES, NO_JOBS_TEXT, explain_jobs
from heuristic_core.provenance.job import Job, iter_changes
from heuristic_core.provenance.record import RECORD_FIELDS, record_digest

KEYS_OF_JOBS = {name: key for experiment in load_experiments() for name, key in experiment.setting_keys.items()}
COMMAND = 'run_forked prune \\\n    --prune \'{"rise": 1,\n "hold": 2}\' \\\n    --log results/s/logs/x.log --code abc'


def planned_job(rule, inputs=(), outputs=(), command=""):
    return PlannedJob(rule, list(inputs), list(outputs), command, "Snakemake's reason")


# ---- one job against its record


def write_record(folder, settings=None, inputs=None, **values):
    """A sound record of the job of `COMMAND` and its result results/s/x, which is there."""
    record = dict.fromkeys(RECORD_FIELDS) | {"settings": settings or {"prune": {"rise": 1, "hold": 2}}, "code": "abc"}
    record |= {"inputs": inputs or {}, "sources": {}, "outputs": {}} | values
    file = folder / "results/s/provenance/x.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record | {"digest": record_digest(record)}))
    (folder / "results/s/x").write_text("a result")


def name(causes: list[str], *tokens: tuple) -> bool:
    """Whether there is one cause for each tuple of tokens, which it mentions."""
    return len(causes) == len(tokens) and all(map(lambda cause, named: mentions(cause, *named), causes, tokens))


def explain_causes(folder, monkeypatch, inputs=(), made=(), command=COMMAND):
    monkeypatch.chdir(folder)
    job = planned_job("prune", inputs, ["results/s/x"], command)
    return find_causes(job, {*made}, lambda job, record: [f"{job.script}.py"], file_digest, KEYS_OF_JOBS)


def test_a_result_that_is_not_there_and_one_without_a_record(tmp_path, monkeypatch):
    (without_result,) = explain_causes(tmp_path, monkeypatch)
    write_record(tmp_path)
    (tmp_path / "results/s/provenance/x.json").unlink()
    (without_record,) = explain_causes(tmp_path, monkeypatch)
    assert len({without_result, without_record, "Snakemake's reason"}) == 3


def test_a_job_that_follows_is_asked_for_nothing_else(tmp_path, monkeypatch):
    write_record(tmp_path, code="other")
    assert explain_causes(tmp_path, monkeypatch, ["a", "b"], made=["b"]) == []
    assert name(explain_causes(tmp_path, monkeypatch, made=["b"]), ("prune.py",))


def test_changed_settings_and_code_are_named(tmp_path, monkeypatch):
    write_record(tmp_path, {"prune": {"rise": 5, "hold": 2, "gone": 1}, "device": "cpu"}, code="other")
    command = COMMAND.replace("prune ", "prune --device cuda ", 1)
    named = ("device", "cpu", "cuda"), ("prune.rise", 5, 1), ("prune.gone",), ("prune.py",)
    assert name(explain_causes(tmp_path, monkeypatch, command=command), *named)


def test_changed_added_and_removed_inputs_are_named(tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("new")
    write_record(tmp_path, sources={"data.csv": "0" * 64})
    command = COMMAND.replace("--log", "--data data.csv \\\n    --log", 1)
    assert name(explain_causes(tmp_path, monkeypatch, ["data.csv"], command=command), ("data.csv",))
    write_record(tmp_path, sources={"other.csv": "0" * 64})
    (other_list,) = explain_causes(tmp_path, monkeypatch, ["data.csv"], command=command)
    assert other_list != "Snakemake's reason"
    write_record(tmp_path)
    assert explain_causes(tmp_path, monkeypatch, ["data.csv"]) == ["Snakemake's reason"]  # waited for, and not read


def test_what_no_record_tells_is_said_in_snakemakes_words(tmp_path, monkeypatch):
    write_record(tmp_path)
    assert explain_causes(tmp_path, monkeypatch) == ["Snakemake's reason"]
    assert explain_causes(tmp_path, monkeypatch, command="run_fresh fetch") == ["Snakemake's reason"]


def test_a_damaged_record_is_named(tmp_path, monkeypatch):
    write_record(tmp_path)
    (tmp_path / "results/s/provenance/x.json").write_text("{}")
    (cause,) = explain_causes(tmp_path, monkeypatch)
    assert mentions(cause, "results/s/provenance/x.json")


def test_nested_settings_are_named_by_their_keys():
    old = {"rate": 0.2, "gone": 1, "inner": {"a": 1, "b": [1, 2]}}
    new = {"rate": 0.3, "inner": {"a": 1, "b": [1, 2, 3]}, "more": {"x": 1}}
    result = ["rate 0.2 -> 0.3", "inner.b [1, 2] -> [1, 2, 3]", "more added", "gone removed"]
    assert list(iter_changes("", {"settings": old}, {"settings": new})) == result  # the configuration itself
    assert list(iter_changes("", {"prune": old}, {"prune": new})) == [f"prune.{line}" for line in result]


def test_a_setting_is_named_by_its_key_in_the_configuration_and_once(tmp_path, monkeypatch):
    before = {"context": {"margin": 3}, "settings": {"analysis": {"margin": 3}}, "sorting": {"model": {"heads": 2}}}
    options = """--context '{"margin":2}' --settings '{"analysis":{"margin":2}}' --sorting '{"model":{"heads":1}}'"""
    command = f"run_forked x {options} --log results/s/logs/x.log --code abc"
    write_record(tmp_path, before)
    assert name(
        explain_causes(tmp_path, monkeypatch, command=command), ("analysis.margin", 3, 2), ("model.heads", 2, 1)
    )


def test_every_field_of_the_context_has_a_key_that_a_user_can_set():
    assert KEYS.keys() == Context.model_fields.keys() - {"curve_repeat"}  # which no configuration has
    for key in KEYS.values():
        assert reduce(_descend, key.split("."), Study) is not None, key


def test_a_long_value_is_shown_short():
    (line,) = iter_changes("", {"x": "x" * 100}, {"x": "y"})
    assert line == "x " + "x" * 57 + "... -> y"


# ---- the text


def test_nothing_to_do_is_said():
    assert explain_jobs([], lambda job, made: []) == NO_JOBS_TEXT


def test_causes_come_first_and_upstream_first_then_what_follows():
    result = {"p1": ["device"], "p2": ["nothing"], "c": ["data.csv"], "f": ["style.py"], "g": ["style.py"]}
    jobs = [
        planned_job("report", ["t"], ["r"]),
        planned_job("table", ["p1", "p2"], ["t"]),
        planned_job("prune_42_43", ["c"], ["p2"]),
        planned_job("prune_44", ["c"], ["p1"]),
        planned_job("encode", [], ["c"]),
        planned_job("figure06", [], ["f"]),
        planned_job("figure07", [], ["g"]),
        planned_job("evaluate", ["p1"], ["e1"]),
        planned_job("evaluate", ["p2"], ["e2"]),
    ]
    text = explain_jobs(jobs, lambda job, made: result.get(job.outputs[0], []))
    first, encode, figures, prune, following = text.split("\n\n")
    assert mentions(first, 9)
    assert (encode, figures) == ("encode:\n    data.csv", "figure06, figure07:\n    style.py")
    rule, *causes = prune.splitlines()
    assert rule == "prune (2):" and name(causes, ("nothing", 1), ("device", 1))
    assert following.endswith(": evaluate (2), table, report.")


def test_of_many_causes_a_few_are_shown():
    result = [f"{i}.csv" for i in range(MAX_CAUSES + 2)]
    text = explain_jobs([planned_job("sentences", [], ["s"])], lambda job, made: result)
    *_, last_cause, rest = text.splitlines()
    assert last_cause == f"    {MAX_CAUSES - 1}.csv" and mentions(rest, 2) and text.count(".csv") == MAX_CAUSES


# ---- the code


def git(folder, *arguments):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of this code with one commit, and what a record says of it."""
    folder = clone(tmp_path / "repository")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "all")
    sha = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    monkeypatch.setattr("heuristic_core.provenance.digests.PACKAGE", folder / "src" / "heuristic_core")
    return folder, {"commit": sha.stdout.strip(), "dirty": False}


def append(path, text):
    path.write_text(path.read_text() + text)


def job(script, *arguments):
    return Job(script, arguments, (), ("results/s/x",))


def test_changed_code_names_the_modules_that_matter_and_packages(repository):
    folder, record = repository
    package = folder / "src/heuristic_core"
    drawings = folder / EXPERIMENT.relative_to(ROOT) / "figures"
    append(drawings / "figure06.py", "\nADDED = 1\n")
    append(package / "figures/style.py", "# a comment\n")
    append(drawings / "figure04.py", "\nADDED = 1\n")
    append(package / "pruning/hard_concrete.py", "\nADDED = 1\n")
    lock = folder / "envs/requirements.txt"
    lock.write_text(lock.read_text().replace("matplotlib==", "matplotlib==9").replace("ruff==", "ruff==9"))
    figure = job("figure", "--name", "figure06")
    module, drawing = find_changed_code(folder, figure, record, lambda job: [drawings / "figure06.py"])
    assert module == "src/heuristic_core/experiments/subnetworks/figures/figure06.py"
    assert drawing.startswith("matplotlib ") and " -> 9" in drawing
    assert find_changed_code(folder, job("prune"), record) == ["src/heuristic_core/pruning/hard_concrete.py"]


def test_new_modules_and_templates_count(repository):
    folder, record = repository
    package = folder / "src/heuristic_core"
    (package / "report/new.py").write_text("NEW = 1\n")
    append(folder / "workflow/scripts/report.py", "\nimport heuristic_core.report.new\n")
    append(package / "report/templates/style.css", "\n")
    result = find_changed_code(folder, job("report"), record)
    wanted = ["report/new.py", "report/templates/style.css"]
    assert sorted(result) == [*(f"src/heuristic_core/{name}" for name in wanted), "workflow/scripts/report.py"]


def test_what_is_not_known_is_not_claimed(repository):
    folder, record = repository
    append(folder / "src/heuristic_core/pruning/hard_concrete.py", "\nADDED = 1\n")
    module, rest = find_changed_code(folder, job("prune"), record | {"dirty": True})
    assert module == "src/heuristic_core/pruning/hard_concrete.py"
    assert mentions(rest, record["commit"][:8], "results/s/x")
    for commit in ("0" * 40, None):
        unknown = find_changed_code(folder, job("prune"), {"commit": commit, "dirty": None})
        assert name(unknown, ("workflow/scripts/prune.py",))


# ---- real studies


def changes(folder, *configs, checkout=ROOT):
    command = [sys.executable, str(checkout / "workflow/scripts/changes.py"), "--configfile", *map(str, configs)]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.slow
def test_a_changed_setting_is_named_where_it_matters(finished, changed):
    config = changed(prune__learning_rate=0.3, analysis__margin=2.0, figures__figure10__width=5.0)
    first, *causes, following = changes(finished, config).split("\n\n")
    assert re.search(r"\d", first)
    named = {cause.splitlines()[0]: sorted(cause.splitlines()[1:]) for cause in causes}
    margin, width = ("analysis.margin", 3.0, 2.0), ("figures.figure10.width", 7.0, 5.0)
    rate = ("prune.learning_rate", 0.2, 0.3)
    expected = {"describe:": (margin, width, rate), "figure10:": (width,), "prune (20), prune_again (4):": (rate,)}
    assert named.keys() == expected.keys() and all(name(named[rules], *expected[rules]) for rules in expected)
    assert following.index("evaluate (20)") < following.index("gather (4)") < following.index("figure02")
    assert following.endswith("report, provenance.")


@pytest.mark.slow
def test_new_cells_have_no_result_yet(finished, changed):
    text = changes(finished, changed(grid__sparsities=[0.2, 0.4, 0.6]))
    assert "prune (8), evaluate (8):\n" in text
    assert any(mentions(line, "grid.sparsities", [0.2, 0.4], [0.2, 0.4, 0.6]) for line in text.splitlines())


@pytest.mark.slow
def test_changed_code_and_files_of_a_checkout_are_named(checkout):
    config = "tests/studies/reduced.yaml"
    assert changes(checkout, config, checkout=checkout) == NO_JOBS_TEXT
    append(
        checkout / "src/heuristic_core/experiments/subnetworks/figures/figure06.py",
        "\nADDED = 1\n",
    )
    append(checkout / CLAIMS.relative_to(ROOT), "\n")
    text = changes(checkout, config, checkout=checkout)
    _, *paragraphs, following = text.split("\n\n")
    causes = dict(paragraph.split(":\n", 1) for paragraph in paragraphs)
    assert mentions(causes["claims"], CLAIMS.relative_to(ROOT)) and "figure06" in causes
    assert following.endswith(": report, provenance.")


@pytest.mark.slow
def test_studies_of_one_file_are_told_apart(finished, changed, tmp_path):
    config = changed(analysis__margin=2.0)
    several = tmp_path / "several.yaml"
    several.write_text(json.dumps({"studies": [str(config)]}))
    text = changes(finished, several)
    (cause,) = [
        paragraph for paragraph in text.split("\n\n") if mentions(paragraph.split(":")[0], "reduced_effective_size")
    ]
    assert mentions(cause, "analysis.margin", 3.0, 2.0)
