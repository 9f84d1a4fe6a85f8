"""Loading a model, data or results runs no code from them, and nothing here could."""

import ast
import json
import os
import pickle

import numpy as np
import pytest
import torch
from conftest import ROOT
from families import make_model
from mentions import mentions, raises
from reduced import STUDY

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.config.reading import ConfigError
from heuristic_core.data.readers import DataError, read_columns
from heuristic_core.experiments.subnetworks.config.study import load_study
from heuristic_core.experiments.subnetworks.report.sides import parse_sides
from heuristic_core.models.implementation import load_model
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.models.tokenizer import make_tokenizer

SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")])
PICKLE = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
# Attributes that unpickle or run what they read, with the module in front.
RUNNING = {"torch.load", "np.load", "numpy.load", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "yaml.Loader"}
RUNNING |= {"pd.read_pickle", "pandas.read_pickle", "datasets.load_dataset", "os.system", "subprocess.getoutput"}


class Malice:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.fixture
def trap(tmp_path):
    """A path that exists once code of the test's was run, and that code as a Python module."""
    path = tmp_path / "ran"
    yield path, f"import os\nos.mkdir({str(path)!r})\n"
    assert not path.exists(), "code beside data was run"


def make_model_block(folder):
    return PretrainedModel.model_validate({"name": "m", "source": "pretrained", "folder": str(folder)})


def start(folder):
    return build_classifier(make_model_block(folder), ["entailment", "neutral", "contradiction"], 50, 0, 1, None)


def test_the_trap_works(tmp_path):
    pickle.loads(pickle.dumps(Malice(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "training_args.bin", "optimizer.pt", "model.pkl"])
def test_pickles_beside_weights_are_not_read(bert, tmp_path, trap, name):
    folder = tmp_path / "model"
    bert.save_pretrained(folder)
    torch.save(Malice(trap[0]), folder / name)
    assert start(folder).config.num_labels == 3
    assert load_model(folder).grid.layers == 3


@pytest.mark.parametrize("name", ["pytorch_model.bin", "tf_model.h5", "flax_model.msgpack"])
def test_weights_that_are_no_safetensors_are_refused(bert, tmp_path, trap, name):
    folder = tmp_path / "model"
    bert.save_pretrained(folder)
    (folder / "model.safetensors").unlink()
    torch.save(Malice(trap[0]), folder / name)
    with raises(InputError, "model.safetensors", name):
        start(folder)


def test_a_pickle_named_as_safetensors_is_refused(bert, tmp_path, trap):
    folder = tmp_path / "model"
    bert.save_pretrained(folder)
    torch.save(Malice(trap[0]), folder / "model.safetensors")
    with raises(InputError, folder / "model.safetensors"):
        start(folder)


AUTO = {
    "AutoConfig": "evil.Config",
    "AutoModel": "evil.Model",
    "AutoModelForSequenceClassification": "evil.Model",
    "AutoTokenizer": ["evil.Tokenizer", "evil.Tokenizer"],
}


@pytest.mark.parametrize("model_type", ["bert", "of_its_own"])
def test_code_that_a_configuration_asks_for_is_not_run(bert, tmp_path, trap, model_type):
    folder = tmp_path / "model"
    bert.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"auto_map": AUTO, "model_type": model_type}))
    (folder / "evil.py").write_text(trap[1])
    if model_type == "bert":
        assert type(start(folder)).__module__.startswith("transformers.")
        assert load_model(folder).grid.layers == 3
    else:
        with raises(InputError, folder):
            start(folder)
        with raises(InputError, "of_its_own"):
            load_model(folder)


@pytest.mark.parametrize("kind", ["BertTokenizer", "EvilTokenizer"])
def test_code_that_a_tokenizer_asks_for_is_not_run(tmp_path, trap, kind):
    folder = tmp_path / "model"
    make_model("bert", vocab_size=120).save_pretrained(folder)
    make_tokenizer(STUDY.model, STUDY.task).save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text()) | {"auto_map": {"AutoTokenizer": AUTO["AutoTokenizer"]}}
    path.write_text(json.dumps(settings | {"tokenizer_class": kind}))
    (folder / "evil.py").write_text(trap[1])
    try:
        result = make_tokenizer(make_model_block(folder), STUDY.task)
    except InputError as error:
        assert kind == "EvilTokenizer" and mentions(str(error), folder)
    else:
        assert type(result).__module__.startswith("transformers.")


def test_a_configuration_that_asks_for_code_is_refused(tmp_path, trap):
    path = tmp_path / "mine.yaml"
    path.write_text(f"study: !!python/object/apply:os.mkdir [{str(trap[0])!r}]\n")
    with raises(ConfigError, path):
        load_study(path)


def test_arrays_and_pickles_among_data_and_results_are_refused_or_not_looked_at(tmp_path, trap):
    np.save(tmp_path / "data.npy", np.array([Malice(trap[0])], dtype=object), allow_pickle=True)
    (tmp_path / "data.pkl").write_bytes(pickle.dumps(Malice(trap[0])))
    for name in ("data.npy", "data.pkl"):
        with raises(DataError, name, ".parquet"):
            read_columns(tmp_path / name, None, ["a"])
        for format in ("parquet", "csv", "tsv", "jsonl", "saved"):
            with raises(DataError, name):
                read_columns(tmp_path / name, format, ["a"])
    study = tmp_path / "study"
    (study / "tables").mkdir(parents=True)
    (study / "study.json").write_bytes(pickle.dumps(Malice(trap[0])))
    (study / "tables" / "claims.parquet").write_bytes(pickle.dumps(Malice(trap[0])))
    assert parse_sides(f"{study} {study}:1")


def dotted(node) -> str:
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_reads_what_could_run(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not PICKLE & {alias.name.split(".")[0] for alias in node.names}, ast.unparse(node)
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in PICKLE, ast.unparse(node)
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            assert not names & RUNNING, ast.unparse(node)
        if isinstance(node, ast.Attribute):
            assert dotted(node) not in RUNNING, ast.unparse(node)
            if node.attr == "from_pretrained":
                assert path.name == "hugging_face.py", "models and tokenizers are loaded there alone"
        if isinstance(node, ast.Call):
            assert dotted(node.func) not in ("eval", "exec", "compile", "__import__"), ast.unparse(node)
            for keyword in node.keywords:
                value = ast.unparse(keyword.value)
                assert (keyword.arg, value) not in {("trust_remote_code", "True"), ("allow_pickle", "True")}
                assert (keyword.arg, value) != ("weights_only", "False") and keyword.arg != "shell"
