"""The workflow's scripts explain themselves, refuse what they cannot use, and import no more than they need."""

import ast
import importlib.util
import json
import subprocess
import sys
from functools import cache

import pytest
import yaml
from conftest import ROOT
from mentions import mentions, raises

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import ParameterRole
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import AnyModel
from heuristic_core.config.pruning import Prune
from heuristic_core.config.tasks import AnyTask
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.jobs.parameters import read_context
from heuristic_core.jobs import arguments
from heuristic_core.pruning.pruner import find_subnetworks
from heuristic_core.tables.identity import Identity

PACKAGE = ROOT / "src" / "heuristic_core"
SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))
LIBRARY = sorted(PACKAGE.rglob("*.py"))
CONFIG = ROOT / "config.yaml"
STUDY = load_study(CONFIG)

every_script = pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)


@cache
def script(name):
    """The module of a script, imported once."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", ROOT / "workflow" / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def status(name, *command_line):
    """The exit status of a script called with arguments at which it stops."""
    with pytest.raises(SystemExit) as ended:
        script(name).main([str(argument) for argument in command_line])
    return ended.value.code


@every_script
def test_help_is_the_docstring_and_every_option(path, capsys):
    assert status(path.stem, "--help") == 0
    help_text, module = capsys.readouterr().out, script(path.stem)
    assert (module.main.__doc__ if hasattr(module.main, "parameters") else module.__doc__) in help_text
    assert "--log" in help_text


@every_script
def test_missing_arguments_are_named(path, capsys):
    assert status(path.stem) == 2
    assert "the following arguments are required: --" in capsys.readouterr().err


@every_script
def test_what_a_script_logs_reaches_the_log_of_its_job(path):
    """Run as a script or by its path, a module's `__name__` is outside of the package whose level start_log sets."""
    logger = getattr(script(path.stem), "LOGGER", None)
    assert logger is None or logger.name == f"heuristic_core.{path.stem}"


# ---- blocks of the configuration


def declared(path):
    """The blocks that a script reads: (script, block)."""
    for parameter in getattr(script(path.stem).main, "parameters", ()):
        if parameter.role is ParameterRole.BLOCK:
            yield path.stem, parameter.name
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Attribute(attr="settings"), args=[ast.Constant(value=name), _]):
                yield path.stem, name


# Scripts of other experiments read blocks of their own configuration: tests/test_*_workflow.py.
OTHERS = ("sorting_", "extractive_")
BLOCKS = [option for path in SCRIPTS if not path.stem.startswith(OTHERS) for option in declared(path)]


def test_blocks_are_found():
    assert {("prune", "prune"), ("finetune", "finetune"), ("encode", "model"), ("encode", "task")} <= set(BLOCKS)
    assert "figure" in dict(BLOCKS)


def block(name):
    """A block of the study; what it does not have by that name are the settings of one figure."""
    return getattr(STUDY, name, STUDY.figures.figure03)


@pytest.mark.parametrize(("name", "key"), BLOCKS)
def test_a_fault_in_a_blocks_json_is_named(name, key, capsys):
    faulty = json.loads(block(key).model_dump_json()) | {"nonsense": 1}
    assert status(name, f"--{key}", json.dumps(faulty)) == 2
    error = capsys.readouterr().err
    assert f"--{key}" in error and "nonsense" in error


@pytest.mark.parametrize(("name", "key"), BLOCKS)
def test_a_missing_configuration_file_is_named(name, key, capsys, tmp_path):
    assert status(name, f"--{key}", tmp_path / "nowhere.yaml") == 2
    assert mentions(capsys.readouterr().err, tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(("name", "key"), BLOCKS)
@pytest.mark.parametrize("form", ["json", "file"])
def test_a_block_is_read_from_json_or_from_the_configuration_file(name, key, form, capsys):
    """With that block given and nothing else, only the others are missed."""
    assert status(name, f"--{key}", block(key).model_dump_json() if form == "json" else CONFIG) == 2
    error = capsys.readouterr().err
    assert "the following arguments are required: " in error
    assert f"--{key}" not in error.split("are required: ")[1].replace(",", "").split()


KINDS = {"model": AnyModel, "task": AnyTask, "finetune": Finetune, "prune": Prune, "analysis": Analysis}


@pytest.mark.parametrize("key", KINDS)
@pytest.mark.parametrize("config", ["config.yaml", "config/minilm-mnli.yaml"])
def test_both_forms_give_the_same_block(key, config):
    expected = getattr(load_study(ROOT / config), key)
    assert arguments.read_block(key, KINDS[key], expected.model_dump_json()) == expected
    assert arguments.read_block(key, KINDS[key], str(ROOT / config)) == expected


def test_both_forms_give_the_same_context():
    expected = Context.from_study(STUDY)
    assert read_context(expected.model_dump_json()) == expected
    assert read_context(str(CONFIG)) == expected


@pytest.mark.parametrize("name", ["core", "claims", "figure"])
def test_a_faulty_context_is_named(name, capsys, tmp_path):
    faulty = json.loads(Context.from_study(STUDY).model_dump_json()) | {"nonsense": 1}
    assert status(name, "--context", json.dumps(faulty)) == 2
    assert "nonsense" in capsys.readouterr().err
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"study": "a"}))
    assert status(name, "--context", tmp_path / "a.yaml") == 2
    assert mentions(capsys.readouterr().err, "grid")


def test_a_number_that_is_none_is_named(capsys):
    assert status("prune", "--sparsities", "half") == 2
    assert "--sparsities" in capsys.readouterr().err
    assert status("prune", "--seeds", "1.5") == 2
    assert "--seeds" in capsys.readouterr().err


def test_as_many_paths_as_seeds_are_asked_for(tmp_path):
    inputs = dict.fromkeys(("checkpoint", "means", "logits", "train"), "a")
    outputs = {key: ["a"] for key in ("subnetworks", "traces")}
    settings = {"prune": STUDY.prune, "run": Identity("s", "m", "t", 1, 1), "sparsities": [0.5, 0.5], "seeds": [1, 2]}
    with raises(InputError, "subnetworks", 1, 2, "seeds"):
        find_subnetworks(**inputs, **settings, **outputs, unfinished=tmp_path)


@pytest.mark.parametrize(("name", "unknown"), [("figure", "figure99"), ("concatenate", "nothing")])
def test_an_unknown_figure_or_table_is_refused_with_the_known_ones(name, unknown, capsys, tmp_path):
    more = ["--parts", tmp_path / "a", "--table", tmp_path / "b"] if name == "concatenate" else []
    assert status(name, "--name", unknown, *more) == 2
    error = capsys.readouterr().err
    assert unknown in error and {"figure": "figure03", "concatenate": "prune_trace"}[name] in error


def test_identities_are_read_as_far_as_they_are_given():
    parser = arguments.JobParser("test")
    parser.add_identity("ft_seed", "step", "sparsity", "seed")
    text = "--study s --model-name m --task-name t --ft-seed 1 --step 400 --sparsity 0.35 --seed 0"
    assert arguments.parse_identity(parser.parse_args(text.split())) == ("s", "m", "t", 1, 400, 0.35, 0, 0)
    parser = arguments.JobParser("test")
    parser.add_identity("ft_seed")
    values = parser.parse_args(text.split()[:8])
    assert arguments.parse_identity(values) == ("s", "m", "t", 1, 0, 0.0, None, 0)


# ---- imports


def loaded(code, *names):
    """Which of the packages `names` are imported after `code` ran in a process of its own."""
    code += f"\nimport sys\nprint([name for name in {names} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stderr
    return ast.literal_eval(ended.stdout)


def test_frequent_jobs_import_nothing_slow():
    paths = [str(ROOT / "workflow" / "scripts" / f"{name}.py") for name in ("prune", "evaluate")]
    code = f"import runpy\nfor path in {paths}: runpy.run_path(path)"
    slow = ("transformers", "pandas", "datasets", "snakemake", "matplotlib", "scipy", "seaborn")
    assert loaded(code, "torch", *slow) == ["torch"]


def test_what_the_dag_reads_imports_nothing_heavy():
    modules = (
        "models.components",
        "models.folder",
        "pruning.subnetwork",
        "tables.parquet",
        "figures.targets",
        "provenance.digests",
        "experiments.subnetworks.archive.reading",
        "experiments.subnetworks.config.cells",
        "experiments.subnetworks.config.context",
        "experiments.subnetworks.config.paths",
        "experiments.subnetworks.figures.targets",
    )
    code = "import " + ", ".join(f"heuristic_core.{module}" for module in modules)
    assert loaded(code, "torch", "transformers", "pandas", "matplotlib", "heuristic_core.tables.parquet") == [
        "heuristic_core.tables.parquet"
    ]


def imported(path):
    """The packages that a file names in its imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def test_the_library_and_the_scripts_do_not_know_snakemake():
    files = [*LIBRARY, *SCRIPTS]
    assert "torch" in imported(ROOT / "src" / "heuristic_core" / "pruning" / "prune.py")
    assert [path for path in files if "snakemake" in imported(path)] == []


def test_analysis_and_figures_do_not_know_torch():
    files = [path for path in LIBRARY if {"analysis", "figures", "config"} & set(path.parts)]
    assert files and [path for path in files if {"torch", "transformers"} & set(imported(path))] == []
