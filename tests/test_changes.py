"""`make changes` tells a person what changed, in the words of the configuration and of the checkout."""

import json
import os
import re
import subprocess
import sys

import pytest
from reduced import ROOT, clone

from heuristic_core.plan.jobs import Listed
from heuristic_core.provenance.changes.code import changed_code
from heuristic_core.provenance.changes.dryrun import PARAMS, Planned, Reason, planned, reason_of
from heuristic_core.provenance.changes.explain import MOST, NOTHING, explain
from heuristic_core.provenance.changes.settings import differences, option

NONE = Reason({}, [], [], False, False, False)


def no_code(words, output):
    return []


# ---- Snakemake's words


def test_a_jobs_words_and_reason_are_those_of_its_command_over_several_lines():
    command = 'fork prune \\\n    --prune \'{"rise": 1,\n "hold": 2}\' \\\n    --seeds 42 43'
    (job,) = planned([Listed("x_prune_42_43", ["a"], ["b", "c"], command, "Missing output files: b, c")])
    assert (job.rule, job.inputs, job.outputs) == ("x_prune", ["a"], ["b", "c"])
    assert job.words == ["fork", "prune", "--prune", '{"rise": 1,\n "hold": 2}', "--seeds", "42", "43"]
    assert job.reason == NONE._replace(files={"missing": ["b", "c"]})


AND_SOFTWARE = " ; Software environment definition has changed since last execution"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Input files updated by another job: a, b", {}),
        ("Updated input files: a, b", {"files": {"updated": ["a", "b"]}}),
        ("Forced execution", {"forced": True}),
        ("Set of input files has changed since last execution", {"inputs": True}),
        (f"{PARAMS}'a','{{; now: }}' now: ['x', 'y'],None ", {"before": ["a", "{; now: }"], "now": [["x", "y"], None]}),
        (f"{PARAMS}<nothing exclusive> now: 'b' ", {"now": ["b"]}),
        (f"{PARAMS}'a' now: <nothing exclusive>{AND_SOFTWARE}", {"before": ["a"]}),
        (f"Code has changed since last execution; {PARAMS}1 now: 2 ", {"command": True, "before": [1], "now": [2]}),
        (f"{PARAMS}<odd> now: <odder> ", {"now": ["<odd> now: <odder>"]}),
    ],
)
def test_reasons_are_understood(text, meaning):
    assert reason_of(text) == NONE._replace(**meaning)


# ---- settings


def test_changed_settings_are_named_by_option_and_keys():
    old = {"rate": 0.2, "gone": 1, "inner": {"a": 1, "b": [1, 2]}}
    new = {"rate": 0.3, "inner": {"a": 1, "b": [1, 2, 3]}, "more": {"x": 1}}
    words = ["fork", "prune", "--device", "cpu", "--prune", json.dumps(new)]
    found = differences([json.dumps(old)], [json.dumps(new)], words)
    assert found == [
        "prune.rate 0.2 -> 0.3",
        "prune.inner.b [1, 2] -> [1, 2, 3]",
        "prune.more added",
        "prune.gone removed",
    ]


def test_blocks_are_compared_with_those_of_their_kind():
    old, new = (({"a": 1, "b": x}, {"c": 1, "d": x}) for x in (5, 6))
    words = ["fork", "x", "--first", json.dumps(new[0]), "--second", json.dumps(new[1])]
    found = differences([*map(json.dumps, reversed(old))], [*map(json.dumps, new)], words)
    assert found == ["first.b 5 -> 6", "second.d 5 -> 6"]
    assert differences(['{"a":1}'], ['{"b":1}'], []) == ['{"a":1} -> {"b":1}']


def test_the_context_is_named_where_no_setting_is():
    texts = [json.dumps({"margin": margin}) for margin in (3, 2)]
    words = ["fork", "x", "--context", texts[1], "--settings", '{"margin":2}']
    assert differences(texts[:1], texts[1:], words) == ["context.margin 3 -> 2"]
    before, now = [texts[0], '{"analysis":{"margin":3},"a":1}'], [texts[1], '{"analysis":{"margin":2},"a":1}']
    words[-1] = now[1]
    assert differences(before, now, words) == ["analysis.margin 3 -> 2"]


def test_other_parameters_and_long_values_are_shown_short_and_digests_not_at_all():
    assert differences(["cpu", "0" * 16], ["cuda", "f" * 16], ["step", "x", "--device", "cuda"]) == [
        "device cpu -> cuda"
    ]
    assert differences([], [3], ["step", "x", "--examples", "3"]) == ["examples none -> 3"]
    (line,) = differences(["x" * 100], ["y"], [])
    assert line == "x" * 57 + "... -> y"


def test_an_option_is_the_last_before_its_value():
    assert option("b", ["--one", "a", "--two", "a", "b"]) == "two"
    assert option("z", ["--one", "a"]) == option("a", ["a"]) == ""
    assert option(3, ["--one", "3", "--two", "3"]) == ""


# ---- the text


def job(rule, inputs=(), outputs=(), **reason):
    return Planned(rule, list(inputs), list(outputs), ["fork", rule], NONE._replace(**reason))


def test_nothing_to_do_is_said():
    assert explain([], no_code) == NOTHING


def test_causes_come_first_and_upstream_first_then_what_follows():
    jobs = [
        job("report", ["t"], ["r"]),
        job("table", ["p1", "p2"], ["t"]),
        job("prune", ["c"], ["p2"], files={"missing": ["p2"]}),
        job("prune", ["c"], ["p1"], before=["cpu"], now=["cuda"]),
        job("encode", [], ["c"], files={"updated": ["data.csv"]}),
        job("figure06", [], ["f"], before=["0" * 16], now=["1" * 16]),
        job("figure07", [], ["g"], before=["0" * 16], now=["1" * 16]),
        job("evaluate", ["p1"], ["e1"]),
        job("evaluate", ["p2"], ["e2"]),
    ]
    text = explain(jobs, lambda words, output: [f"{words[0]}.py"])
    assert text == (
        "9 jobs would run. In brackets: how many of one rule.\n\n"
        "encode:\n    input changed: data.csv\n\n"
        "figure06, figure07:\n    code changed: fork.py\n\n"
        "prune (2):\n    no result yet (1 job)\n    setting changed: cpu -> cuda (1 job)\n\n"
        "Because of these: evaluate (2), table, report."
    )


def test_of_many_causes_a_few_are_shown():
    inputs = [f"{i}.csv" for i in range(MOST + 2)]
    text = explain([job("sentences", [], ["s"], files={"updated": inputs})], no_code)
    assert text.splitlines()[-2:] == [f"    input changed: {MOST - 1}.csv", "    and 2 causes more"]


# ---- the code


def git(folder, *arguments):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A repository of this code, and a function that records that its last commit made the result results/s/x."""
    folder = clone(tmp_path / "repository")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "all")
    sha = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("heuristic_core.provenance.digests.PACKAGE", folder / "src" / "heuristic_core")
    record = folder / "results/s/provenance/x.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"commit": sha.stdout.strip(), "dirty": False}))
    return folder


def append(path, text):
    path.write_text(path.read_text() + text)


def test_changed_code_names_the_modules_that_matter_and_packages(recorded):
    package = recorded / "src/heuristic_core"
    append(package / "figures/figure06.py", "\nADDED = 1\n")
    append(package / "figures/style.py", "# a comment\n")
    append(package / "figures/figure04.py", "\nADDED = 1\n")
    append(package / "pruning/hard_concrete.py", "\nADDED = 1\n")
    lock = recorded / "envs/requirements.txt"
    lock.write_text(lock.read_text().replace("matplotlib==", "matplotlib==9").replace("ruff==", "ruff==9"))
    draw = ["fork", "figure", "--name", "figure06"]
    module, drawing = changed_code(recorded, draw, "results/s/x")
    assert module == "src/heuristic_core/figures/figure06.py"
    assert drawing.startswith("matplotlib ") and " -> 9" in drawing
    assert changed_code(recorded, ["fork", "prune"], "results/s/x") == ["src/heuristic_core/pruning/hard_concrete.py"]


def test_new_modules_and_templates_count(recorded):
    package = recorded / "src/heuristic_core"
    (package / "report/new.py").write_text("NEW = 1\n")
    append(recorded / "workflow/scripts/report.py", "\nimport heuristic_core.report.new\n")
    append(package / "report/templates/style.css", "\n")
    found = changed_code(recorded, ["fork", "report"], "results/s/x")
    wanted = ["report/new.py", "report/templates/style.css"]
    assert sorted(found) == [*(f"src/heuristic_core/{name}" for name in wanted), "workflow/scripts/report.py"]


def test_what_is_not_known_is_not_claimed(recorded):
    append(recorded / "src/heuristic_core/pruning/hard_concrete.py", "\nADDED = 1\n")
    unknown = ["workflow/scripts/prune.py, or what it imports, or a locked package"]
    assert changed_code(recorded, ["fork", "prune"], "results/s/other") == unknown
    record = recorded / "results/s/provenance/x.json"
    made = json.loads(record.read_text())
    record.write_text(json.dumps(made | {"dirty": True}))
    module, rest = changed_code(recorded, ["fork", "prune"], "results/s/x")
    assert module == "src/heuristic_core/pruning/hard_concrete.py"
    assert rest == f"or what differed from commit {made['commit'][:8]} when results/s/x was made"
    record.write_text(json.dumps({"commit": "0" * 40, "dirty": False}))
    assert changed_code(recorded, ["fork", "prune"], "results/s/x") == unknown
    record.write_text(json.dumps({"commit": None, "dirty": None}))
    assert changed_code(recorded, ["fork", "prune"], "results/s/x") == unknown


# ---- real studies


def changes(folder, *configs, checkout=ROOT):
    command = [sys.executable, str(checkout / "workflow/scripts/changes.py"), "--configfile", *map(str, configs)]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_changed_setting_is_named_where_it_matters(finished, changed):
    config = changed(prune__learning_rate=0.3, analysis__margin=2.0, figures__figure10__width=5.0)
    first, *causes, following = changes(finished, config).split("\n\n")
    assert re.match(r"\d+ jobs would run\. ", first)
    named = {cause.splitlines()[0]: cause.splitlines()[1:] for cause in causes}
    setting = "    setting changed: "
    assert named == {
        "describe:": [
            f"{setting}prune.learning_rate 0.2 -> 0.3",
            f"{setting}analysis.margin 3.0 -> 2.0",
            f"{setting}figures.figure10.width 7.0 -> 5.0",
        ],
        "figure10:": [f"{setting}figures.figure10.width 7.0 -> 5.0"],
        "prune (20), prune_again (4):": [f"{setting}prune.learning_rate 0.2 -> 0.3"],
    }
    assert following.startswith("Because of these: ")
    assert following.index("evaluate (20)") < following.index("gather (4)") < following.index("figure02")
    assert following.endswith("report, provenance.")


@pytest.mark.slow
def test_new_cells_have_no_result_yet(finished, changed):
    text = changes(finished, changed(grid__sparsities=[0.2, 0.4, 0.6]))
    assert "prune (8), evaluate (8):\n    no result yet\n" in text
    assert "    setting changed: grid.sparsities [0.2, 0.4] -> [0.2, 0.4, 0.6]\n" in text


@pytest.mark.slow
def test_changed_code_and_files_of_a_checkout_are_named(checkout):
    config = "tests/studies/reduced.yaml"
    assert changes(checkout, config, checkout=checkout) == NOTHING
    append(checkout / "src/heuristic_core/figures/figure06.py", "\nADDED = 1\n")
    append(checkout / "claims.yaml", "\n")
    text = changes(checkout, config, checkout=checkout)
    assert "claims:\n    input changed: claims.yaml\n" in text
    assert "figure06:\n    code changed: " in text
    assert text.endswith("Because of these: report, provenance.")


@pytest.mark.slow
def test_studies_of_one_file_are_told_apart(finished, changed, tmp_path):
    one = changed(analysis__margin=2.0)
    several = tmp_path / "several.yaml"
    several.write_text(json.dumps({"studies": [str(one)]}))
    text = changes(finished, several)
    assert "reduced_effective_size:\n    setting changed: analysis.margin 3.0 -> 2.0" in text
