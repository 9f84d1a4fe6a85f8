"""What is known of a task beforehand: kinds of examples, targets that are cut off, sizes of missing files."""

import random

import pytest
from conftest import ROOT
from families import make_model
from mentions import mentions
from test_target_workflow import CONFIG, NOUNS, VERBS, write

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.config.reading import ConfigError
from heuristic_core.config.tasks import parse_task
from heuristic_core.experiments.subnetworks.archive.cards import Origin
from heuristic_core.experiments.subnetworks.config import load_study, parse_study
from heuristic_core.experiments.subnetworks.jobs.classifier import Classifier
from heuristic_core.experiments.subnetworks.plan.pairs import count_pairs
from heuristic_core.experiments.subnetworks.plan.sources import check_sources
from heuristic_core.experiments.subnetworks.study_results import StudyResults
from heuristic_core.models.cut_targets import find_cut_targets
from heuristic_core.tables.identity import Identity

KINDS = {"config.yaml": (2, False), "config/agreement.yaml": (1, False), "config/roles.yaml": (1, True)} | {
    "config/cola-blimp.yaml": (1, False)
}


@pytest.mark.parametrize(("file", "kind"), KINDS.items())
def test_results_and_cards_know_the_kind_of_their_examples(file, kind, monkeypatch):
    settings = load_study(ROOT / file).model_dump(mode="json")
    task = parse_task(settings["task"])
    assert (task.sentence_count, task.has_target) == kind and Origin(settings, "mit").has_target == kind[1]
    run = Identity("s", "m", "t", ft_seed=1, step=60)
    monkeypatch.setattr(StudyResults, "checkpoints", [run])
    monkeypatch.setattr(Classifier, "load", lambda *_, **known: (known["sentence_count"], known["has_target"]))
    assert StudyResults(ROOT, settings).model() == kind


@pytest.mark.parametrize("length", [6, 12])
def test_a_target_that_is_cut_off_is_named_before_anything_runs(length, tmp_path, monkeypatch):
    """With two special tokens, six leave four words, and the passive names the agent last."""
    from transformers import BertTokenizer

    monkeypatch.chdir(tmp_path)
    for name, passives in (("train", 0.1), ("dev", 0), ("passive", 1)):
        write(tmp_path / f"{name}.csv", random.Random(0), passives, 600)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "was", "by", *NOUNS, *VERBS]
    BertTokenizer(vocab={word: i for i, word in enumerate(words)}, model_max_length=24).save_pretrained("model")
    names = dict(enumerate(CONFIG["task"]["labels"]))
    classes = {"num_labels": 2, "id2label": names, "label2id": {name: i for i, name in names.items()}}
    make_model("bert", vocab_size=len(words), max_position_embeddings=24, **classes).save_pretrained("model")
    study = parse_study(CONFIG | {"task": CONFIG["task"] | {"max_length": length}})
    if length == 12:
        check_sources(study, "roles.yaml")
        return
    with pytest.raises(ConfigError) as raised:
        check_sources(study, "roles.yaml")
    assert mentions(str(raised.value), "task.train.0", "task.evaluation.passive", "task.max_length = 6", "raise")


@pytest.mark.parametrize("file", ["config/msgs.yaml", "config/cola-blimp.yaml"])
def test_studies_of_single_sentences_on_real_data_can_be_planned_without_it(file):
    try:
        pairs = count_pairs(load_study(ROOT / file))
    except InputError as error:
        pytest.fail(str(error))
    assert pairs.train.pairs > 1000


@pytest.mark.parametrize("content", [None, "{"])
def test_a_tokenizer_that_cannot_be_read_is_left_to_the_job_that_reads_it(content, tmp_path):
    if content:
        (tmp_path / "tokenizer.json").write_text(content)
    model = PretrainedModel(name="x", source="pretrained", folder=str(tmp_path))
    assert find_cut_targets(model, load_study(ROOT / "config/cola-blimp.yaml").task) == []
