"""Model folders to spoil: how a test reads and changes their files."""

import json

import pytest
from families import make_model
from safetensors.torch import load_file, save_file

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(45))]


def read_model_config(folder):
    return json.loads((folder / "config.json").read_text())


def configure(folder, **changed):
    (folder / "config.json").write_text(json.dumps(read_model_config(folder) | changed))


def rename(folder, new):
    """Write every weight under the name that `new` gives, or leave it out where that is None."""
    path = folder / "model.safetensors"
    weights = {new(name): weight for name, weight in load_file(path).items()}
    save_file({name: weight for name, weight in weights.items() if name}, path, {"format": "pt"})


@pytest.fixture
def save(tmp_path):
    """A function that saves a tiny model of a family, and returns its folder."""

    def save(case, **settings):
        make_model(case, **settings).save_pretrained(tmp_path)
        return tmp_path

    return save


@pytest.fixture
def bert_folder(save):
    """A BERT with a tokenizer of 50 words."""
    folder = save("bert")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    return folder
