"""A pretrained checkpoint that has a classifier already: its classes are the task's, in the same order, or an error."""

import pytest
import torch
from families import make_model
from mentions import raises
from model_folders import configure, read_model_config

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.models.folder import check_labels
from heuristic_core.models.pretrained import build_classifier

LABELS = ["entailment", "neutral", "contradiction"]


def start(folder, labels):
    model = PretrainedModel(name="bert", source="pretrained", folder=str(folder))
    return build_classifier(model, labels, 50, 0, 1, None)


def test_a_classifier_with_the_tasks_labels_is_kept(bert, checkpoint):
    model = start(checkpoint, LABELS)
    assert torch.equal(model.classifier.weight, bert.classifier.weight)
    assert [model.config.id2label[i] for i in range(3)] == LABELS


@pytest.mark.parametrize(
    "labels",
    [
        ["contradiction", "neutral", "entailment"],
        ["entailment", "neutral", "contradicts"],
        ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"],
        ["entailment", "neutral"],
        [*LABELS, "other"],
    ],
    ids=["order", "name", "case", "fewer", "more"],
)
def test_a_classifier_with_other_labels_is_refused(checkpoint, labels):
    with raises(InputError, checkpoint / "config.json", "id2label", LABELS, "task.labels", labels):
        start(checkpoint, labels)


def unnamed(bert, classes):
    config = bert.config.to_dict() | {"id2label": {i: f"LABEL_{i}" for i in range(classes)}}
    return type(bert.config)(**config)


@pytest.mark.parametrize("classes", [2, 5])
def test_a_checkpoint_without_a_classifier_fits_every_task(bert, tmp_path, classes):
    from transformers import BertModel

    BertModel(unnamed(bert, classes)).save_pretrained(tmp_path)
    assert start(tmp_path, LABELS).num_labels == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_a_trained_classifier_without_names_is_refused(bert, tmp_path, classes):
    from transformers import BertForSequenceClassification

    BertForSequenceClassification(unnamed(bert, classes)).save_pretrained(tmp_path)
    with raises(InputError, classes, "task.labels"):
        start(tmp_path, LABELS)


@pytest.mark.parametrize(
    ("case", "architecture"),
    [("bert", "TokenClassification"), ("distilbert", "MultipleChoice"), ("llama", "TokenClassification")],
)
def test_the_classifier_of_another_task_is_refused(save, case, architecture):
    import transformers

    folder = save(case)
    kind = type(make_model(case)).__name__.replace("SequenceClassification", architecture)
    getattr(transformers, kind)(make_model(case).config).save_pretrained(folder)
    with raises(InputError, kind):
        check_labels(folder, read_model_config(folder)["id2label"].values())


@pytest.mark.parametrize(("case", "architecture"), [("roberta", "TokenClassification"), ("bert", "QuestionAnswering")])
def test_a_head_of_another_name_is_left_out(save, case, architecture):
    import transformers

    folder = save(case)
    kind = type(make_model(case)).__name__.replace("SequenceClassification", architecture)
    getattr(transformers, kind)(make_model(case).config).save_pretrained(folder)
    check_labels(folder, read_model_config(folder)["id2label"].values())
    assert start(folder, LABELS).num_labels == 3


@pytest.mark.parametrize("changed", [{"id2label": {"0": "a", "1": "b"}}, {"id2label": None, "architectures": None}])
def test_a_classifier_counts_by_its_weights(save, changed):
    folder = save("bert")
    configure(folder, **changed)
    with raises(InputError, 3):
        check_labels(folder, ["a", "b"])
