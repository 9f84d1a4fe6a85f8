"""A study of roles, the class of a word within a sentence, from files to predictions and published checkpoints."""

import csv
import json
import random
import re

import pytest
import torch
import yaml
from families import make_model
from reduced import snakemake

import heuristic_core
from heuristic_core.data.targets import find_target
from heuristic_core.tables.parquet import read_table

NOUNS = ["judge", "poet", "king", "nurse", "actor", "clerk", "baker", "pilot"]
VERBS = ["saw", "thanked", "called", "helped"]
SPLIT = {"sentences": ["text"], "target": "word"}
CONFIG = {
    "study": "roles",
    "model": {"name": "tiny", "source": "pretrained", "folder": "model"},
    "task": {
        "name": "roles",
        "source": "files",
        "heuristic": "first noun acts",
        "labels": ["agent", "patient"],
        "train": [SPLIT | {"file": "train.csv"}],
        "evaluation": {
            "dev": SPLIT | {"file": "dev.csv", "group": "id"},
            "passive": SPLIT
            | {"file": "passive.csv", "group_by_label": {"agent": "ood", "patient": "ood"}, "label": "label"},
        },
        "max_length": 12,
    },
    "finetune": {"seeds": [1], "steps": 60, "batch_size": 16, "learning_rate": 2e-3, "warmup_steps": 5}
    | {"checkpoints": [30, 60], "evaluate_every": 30, "save_every": 20},
    "prune": {"rise": 10, "hold": 10, "batch_size": 8, "warmup_steps": 5, "learning_rate": 0.2, "together": 2}
    | {"controller_learning_rate": 0.1, "examples": 100, "mean_examples": 100, "held_out": 50},
    "grid": {"sparsities": [0.25, 0.5], "mid": 0.25, "high": 0.5, "seeds": [1, 2], "curve_seeds": [1, 2]}
    | {"checkpoints": [30, 60]},
    "analysis": {"despite_chance": True, "permutations": 100, "bootstrap": 100, "control_draws": 3},
}


def write(path, draws, passives, count):
    """Write sentences with a target each: the passive names the patient first."""
    rows = [("text", "word", "label")]
    for _ in range(count):
        (agent, patient), verb = draws.sample(NOUNS, 2), draws.choice(VERBS)
        passive = draws.random() < passives
        text = f"the {patient} was {verb} by the {agent}" if passive else f"the {agent} {verb} the {patient}"
        rows.append((text, *draws.choice([(agent, "agent"), (patient, "patient")])))
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The finished study's folder."""
    from transformers import BertTokenizer

    folder, draws = tmp_path_factory.mktemp("roles"), random.Random(0)
    for name, passives, count in (("train", 0.1, 600), ("dev", 0, 80), ("passive", 1, 80)):
        write(folder / f"{name}.csv", draws, passives, count)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "was", "by", *NOUNS, *VERBS]
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(words)}, model_max_length=24)
    names = dict(enumerate(CONFIG["task"]["labels"]))
    classes = {"num_labels": 2, "id2label": names, "label2id": {name: i for i, name in names.items()}}
    shape = {"num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 24}
    make_model("bert", vocab_size=len(words), **shape, **classes).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    (folder / "roles.yaml").write_text(yaml.safe_dump(CONFIG))
    snakemake(folder, "--", "all_figures", config=folder / "roles.yaml")
    snakemake(folder, "--config", "licence=mit", "--", "publish", config=folder / "roles.yaml")
    return folder


def read(path):
    with open(path) as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_the_model_learns_roles_that_a_sentence_alone_does_not_tell(study):
    """Each sentence has an agent and a patient: only the target tells which is asked for."""
    accuracy = read_table(study / "results/roles/tables/finetune_accuracy.parquet")
    last = accuracy[(accuracy["step"] == 60) & accuracy["subset"].isna()].set_index("group")["accuracy"]
    assert last["id"] > 90


@pytest.mark.slow
def test_predictions_in_python_are_those_of_the_study(study):
    opened, rows = heuristic_core.open_study(study / "results/roles"), read(study / "dev.csv")
    sentences, targets = ([row[key] for row in rows] for key in ("text", "word"))
    predicted = opened.model().predict(sentences, targets)["prediction"]
    table = read_table(study / "results/roles/tiny/roles/ft1/step60/predictions.parquet")
    labels = CONFIG["task"]["labels"]
    assert predicted.tolist() == [labels[k] for k in table.loc[table["subset"] == "dev", "prediction"]]


@pytest.mark.slow
def test_the_code_of_a_published_card_classifies_the_target(study):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = study / "results/roles/hub/ft1-s0.25-seed1"
    blocks = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    exec(next(block for block in blocks if "def classify" in block), code := {})
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    classifier = heuristic_core.open_study(study / "results/roles").model(sparsity=0.25, seed=1)
    for row in read(study / "passive.csv")[:5]:
        inputs = tokenizer(row["text"], return_tensors="pt")
        position = inputs.char_to_token(0, find_target(row["word"], row["text"])[1] - 1)
        with torch.no_grad():
            logits = code["classify"](model, model.bert.pooler, position, **inputs)
        expected = classifier.predict([row["text"]], [row["word"]])[CONFIG["task"]["labels"]].to_numpy()
        assert logits.softmax(-1).numpy() == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_a_sentence_has_no_repeated_words(study):
    settings = json.loads((study / "results/roles/study.json").read_text())["settings"]
    assert settings["task"]["train"][0]["target"] == "word"
    assert not (study / "results/roles/tables/table_overlap.csv").exists()
    shares = read_table(study / "results/roles/tables/attention.parquet")
    assert not shares.loc[shares["category"] == "repeated", "share"].any()
