"""What is told of a tokenizer and of positions from a model's files alone; and which files count."""

import json

import pytest
import torch
from families import make_model
from mentions import mentions, raises
from model_folders import WORDS, configure, read_model_config

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.models import folder as folders
from heuristic_core.models import tokenizer_files
from heuristic_core.models.folder import check_files, find_problem, local_files
from heuristic_core.models.hugging_face import load_classifier
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.models.tokenizer_files import check_positions, check_rows, check_tokenizer


@pytest.mark.parametrize(
    ("case", "files", "missing"),
    [
        ("bert", {"merges.txt": "a b"}, ("vocab.txt",)),
        ("gpt2", {"vocab.json": '{"a": 0}'}, ("vocab.json", "merges.txt")),
        ("roberta", {"vocab.txt": "a\nb"}, ("vocab.json", "merges.txt")),
        ("deberta-v3", {"spiece.model": "a"}, ("spm.model",)),
        ("albert", {"spm.model": "a"}, ("spiece.model",)),
        ("llama", {}, ("tokenizer.model",)),
    ],
)
def test_a_tokenizer_whose_files_are_not_there_is_named(save, case, files, missing):
    folder = save(case)
    for name, text in files.items():
        (folder / name).write_text(text)
    with raises(InputError, *missing, *files):
        check_tokenizer(folder, read_model_config(folder))


@pytest.mark.parametrize(("case", "files"), [("roberta", ("vocab.json", "merges.txt")), ("bert", ("vocab.txt",))])
def test_files_that_another_class_would_read_are_named_with_it(save, case, files):
    folder = save(case)
    for name in files:
        (folder / name).write_text("{}")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "TokenizersBackend"}')
    with raises(InputError, *files, "tokenizer_config.json"):
        check_tokenizer(folder, read_model_config(folder))


def test_a_tokenizer_of_another_class_is_made_from_its_files(save):
    folder = save("bert")
    for name, text in {"vocab.json": '{"a": 0, "b": 1}', "merges.txt": "a b"}.items():
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=r"vocab\.txt"):
        check_tokenizer(folder, read_model_config(folder))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizerFast"}')
    check_tokenizer(folder, read_model_config(folder))


@pytest.mark.parametrize(
    ("name", "text", "token"),
    [
        ("special_tokens_map.json", {"additional_special_tokens": ["<mark>"]}, ("'<mark>'", 50)),
        ("tokenizer_config.json", {"extra_special_tokens": {"image": {"content": "<mark>"}}}, ("'<mark>'", 50)),
        ("tokenizer_config.json", {"added_tokens_decoder": {"70": {"content": "<mark>"}}}, ("'<mark>'", 70)),
        ("added_tokens.json", {"<mark>": 50}, ("'<mark>'", 50)),
        ("vocab.txt", "\n".join([*WORDS, "more"]), ("'more'", 50)),
    ],
)
def test_tokens_beyond_the_embeddings_are_named(bert_folder, name, text, token):
    check_files(bert_folder)
    (bert_folder / name).write_text(text if isinstance(text, str) else json.dumps(text))
    with raises(InputError, "vocab_size", 50, "resize_token_embeddings", *token):
        check_files(bert_folder)


def test_a_padding_token_of_the_tokenizer_counts_where_the_model_has_none_of_its_own(bert_folder):
    (bert_folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": "<pad>"}))
    check_files(bert_folder)
    configure(bert_folder, pad_token_id=None)
    with pytest.raises(InputError, match="<pad>"):
        check_files(bert_folder)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vocab.txt", "\n".join([*WORDS, "", "", ""])),
        ("vocab.txt", "\n".join([*WORDS[:48], "\u2028", "\x85"])),
        ("tokenizer_config.json", json.dumps({"mask_token": "<mask>"})),
        ("special_tokens_map.json", json.dumps({"mask_token": {"content": "<mask>", "lstrip": True}})),
    ],
)
def test_what_no_pair_holds_needs_no_row(bert_folder, name, text, caplog):
    (bert_folder / name).write_text(text)
    check_files(bert_folder)
    assert not caplog.records


@pytest.mark.parametrize(("model_pad", "pad"), [(1, 0), (0, 7)])
def test_positions_that_begin_after_another_padding_token_are_refused(save, model_pad, pad):
    folder = save("roberta", pad_token_id=model_pad)
    words = {f"w{number}": number for number in range(50)}
    with raises(InputError, f"'w{pad}'", pad, "pad_token_id", model_pad):
        check_rows(folder, words, read_model_config(folder), {"pad_token": f"w{pad}"})
    check_rows(folder, words, read_model_config(folder), {"pad_token": f"w{model_pad}"})


@pytest.mark.parametrize(
    ("case", "settings", "count", "roles", "named"),
    [
        ("bert", {"vocab_size": 1000}, 800, {}, (800, "1,000")),
        ("llama", {"vocab_size": 700}, 500, {}, (500, 700)),
        ("bert", {}, 50, {"pad_token": "w3"}, ("pad_token_id", 0)),
        ("gpt_neox", {"bos_token_id": 5}, 50, {"eos_token": "w1"}, ("bos_token_id", 5, "'w5'")),
    ],
)
def test_what_may_be_another_models_tokenizer_is_told(save, case, settings, count, roles, named, caplog):
    folder = save(case, **settings)
    check_rows(folder, {f"w{number}": number for number in range(count)}, read_model_config(folder), roles)
    (record,) = (item for item in caplog.records if item.name.startswith("heuristic_core"))
    assert record.levelname == "WARNING" and mentions(record.message, folder, *named)


def test_rows_added_for_speed_and_special_tokens_of_other_roles_are_not_told(save, caplog):
    folder = save("gpt_neox", vocab_size=150, bos_token_id=2, eos_token_id=2, pad_token_id=None)
    check_rows(folder, {f"w{number}": number for number in range(50)}, read_model_config(folder), {"pad_token": "w2"})
    assert not caplog.records


def test_a_tokenizer_json_that_cannot_be_read_is_named(bert_folder):
    for text, named in (("{", ()), ("{}", ("model.vocab",)), ("[]", ("JSON",))):
        (bert_folder / "tokenizer.json").write_text(text)
        with raises(InputError, "tokenizer.json", *named):
            check_files(bert_folder)


@pytest.mark.parametrize(("case", "file"), [("deberta-v3", "spm.model"), ("llama", "tokenizer.model")])
def test_without_the_packages_that_read_sentencepiece_it_is_said(save, monkeypatch, case, file):
    folder = save(case)
    (folder / file).write_bytes(b"pieces")
    check_tokenizer(folder, read_model_config(folder))
    monkeypatch.setattr(tokenizer_files, "_is_installed", lambda module: module != "sentencepiece")
    with raises(InputError, "pip install sentencepiece"):
        check_tokenizer(folder, read_model_config(folder))


def test_a_tokenizer_that_found_no_word_is_refused_when_it_is_made(bert_folder, monkeypatch):
    class Task:
        max_length = 10

    pretrained = PretrainedModel(name="m", source="pretrained", folder=str(bert_folder))
    assert len(make_tokenizer(pretrained, Task)) == 50
    (bert_folder / "vocab.txt").write_text("\n".join(WORDS[:5]))
    with pytest.raises(InputError):
        make_tokenizer(pretrained, Task)


# ---- positions


@pytest.mark.parametrize(
    ("case", "longest"), [("bert", 24), ("distilbert", 24), ("electra", 24), ("gpt2", 24), ("deberta-v2", 24)]
)
def test_learned_positions_are_at_least_as_many_as_tokens(save, case, longest):
    folder = save(case)
    check_positions(folder, read_model_config(folder), longest)
    with raises(InputError, "task.max_length", longest + 1, longest):
        check_positions(folder, read_model_config(folder), longest + 1)


@pytest.mark.parametrize("pad", [0, 1, 3])
def test_robertas_first_positions_are_not_for_tokens(save, pad):
    folder = save("roberta", pad_token_id=pad)
    longest = 24 - pad - 1
    loaded, ids = load_classifier(folder), torch.full((1, longest + 1), 7)
    assert loaded(ids[:, :-1]).logits.shape == (1, 3)
    check_positions(folder, read_model_config(folder), longest)
    with raises(InputError, longest):
        check_positions(folder, read_model_config(folder), longest + 1)
    with pytest.raises((IndexError, RuntimeError)):
        loaded(ids)


@pytest.mark.parametrize(
    "case", ["llama", "gpt_neox", "mistral", "modernbert", "deberta-v3", "gemma2", "qwen3", "olmo"]
)
def test_computed_positions_take_any_length(save, case):
    folder = save(case)
    check_positions(folder, read_model_config(folder), 100)
    assert load_classifier(folder)(torch.full((1, 100), 7)).logits.isfinite().all()


# ---- where it is said, and which files count


def test_a_model_of_the_hub_is_checked_once_it_is_in_the_cache(bert_folder, monkeypatch):
    of_hub = PretrainedModel(name="m", source="pretrained", hub="a/b", revision="0" * 40)
    monkeypatch.setattr(folders, "find_cached_model", lambda *commit: bert_folder)
    assert find_problem(of_hub, None, 24) is None
    assert mentions(find_problem(of_hub, None, 25), 25, 24)

    def missing(*commit):
        raise InputError("not there")

    monkeypatch.setattr(folders, "find_cached_model", missing)
    assert find_problem(of_hub, None, 25) is None


def test_only_files_that_a_model_is_loaded_from_count(bert_folder, tmp_path, monkeypatch):
    of_folder = PretrainedModel(name="m", source="pretrained", folder=str(bert_folder))
    counted = local_files(of_folder)
    assert counted == [str(bert_folder / name) for name in ("config.json", "model.safetensors", "vocab.txt")]
    others = ("README.md", "trainer_state.json", "training_args.bin", "optimizer.pt", ".DS_Store", "pytorch_model.bin")
    others += (
        "all_results.json",
        "model-00001-of-00001.safetensors",
        "events.out.tfevents",
        "vocab.txt~",
        "chat.jinja",
    )
    for name in others:
        (bert_folder / name).write_text("x")
    assert local_files(of_folder) == counted
    (bert_folder / "special_tokens_map.json").write_text("{}")
    assert set(local_files(of_folder)) - set(counted) == {str(bert_folder / "special_tokens_map.json")}


def test_shards_count(tmp_path):
    make_model("gpt2").save_pretrained(tmp_path, max_shard_size="20KB")
    files = local_files(PretrainedModel(name="m", source="pretrained", folder=str(tmp_path)))
    assert str(tmp_path / "model.safetensors.index.json") in files
    assert sum(name.endswith(".safetensors") for name in files) == len(list(tmp_path.glob("model-*"))) > 1
