"""What is told of a model's folder from its files alone: weights, tokenizer, positions; and which files count."""

import json
import logging

import pytest
import torch
from families import CASES, make_model
from safetensors.torch import load_file, save_file

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.models import folder as folders
from heuristic_core.models import tokenizer_files
from heuristic_core.models.folder import check_files, fault, local_files
from heuristic_core.models.hugging_face import load_classifier
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.models.tokenizer_files import check_positions, check_tokenizer
from heuristic_core.models.weight_files import check_weights

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(45))]


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


def configure(folder, **changed):
    (folder / "config.json").write_text(json.dumps(config_of(folder) | changed))


def rename(folder, new):
    """Write every weight under the name that `new` gives, or leave it out where that is None."""
    path = folder / "model.safetensors"
    weights = {new(name): weight for name, weight in load_file(path).items()}
    save_file({name: weight for name, weight in weights.items() if name}, path, {"format": "pt"})


def check(folder):
    check_weights(folder, config_of(folder))


def message(folder) -> str:
    """Why the folder is refused by its files, and by transformers."""
    with pytest.raises(InputError) as error:
        check(folder)
    with pytest.raises(InputError):
        load_classifier(folder, new_head=True)
    return str(error.value)


@pytest.fixture
def save(tmp_path):
    def save(case, **settings):
        make_model(case, **settings).save_pretrained(tmp_path)
        return tmp_path

    return save


@pytest.fixture
def model(save):
    """A BERT with a tokenizer of 50 words."""
    folder = save("bert")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    return folder


# ---- weights


@pytest.mark.parametrize("case", list(CASES))
def test_what_a_family_saves_is_whole_with_and_without_its_head(case, tmp_path, caplog, capfd):
    model = make_model(case)
    for number, saved in enumerate((model, model.base_model)):
        folder = tmp_path / str(number)
        saved.save_pretrained(folder)
        check(folder)
        with caplog.at_level(logging.INFO):
            loaded = load_classifier(folder, new_head=True)
        weights = model.base_model.state_dict()
        assert all(torch.equal(weight, weights[name]) for name, weight in loaded.base_model.state_dict().items())
    (line,) = [record.getMessage() for record in caplog.records if record.name.endswith("hugging_face")]
    assert "begin at random" in line and ("classifier" in line or "score" in line)
    assert "REPORT" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("case", "prefix"),
    [("gpt2", "_orig_mod."), ("roberta", "model."), ("llama", "module."), ("deberta-v3", "net.encoder_model.")],
)
def test_a_prefix_before_every_name_is_named(save, case, prefix):
    folder = save(case)
    rename(folder, lambda name: prefix + name)
    text = message(folder)
    assert f"begin with {prefix!r}" in text and f"removeprefix({prefix!r})" in text


def test_names_without_those_of_the_base_model_can_have_a_prefix_too(save):
    folder = save("distilbert")
    rename(folder, lambda name: name.replace("distilbert.", "student."))
    assert "begin with 'student.'" in message(folder)


@pytest.mark.parametrize(
    ("config", "weights"), [("distilbert", "bert"), ("bert", "electra"), ("llama", "qwen2"), ("gpt2", "gpt_neox")]
)
def test_weights_of_another_architecture_are_named(tmp_path, config, weights):
    make_model(weights).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(make_model(config).config.to_json_string())
    with pytest.raises(InputError, match=f"those of {weights}.*model_type = '{config}'"):
        check(tmp_path)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("gpt2", "n_layer"),
        ("deberta-v2", "num_hidden_layers"),
        ("distilbert", "n_layers"),
        ("olmo", "num_hidden_layers"),
    ],
)
def test_more_layers_than_the_file_has_are_named(save, case, name):
    folder = save(case)
    configure(folder, **{name: 5, "layer_types": None})
    text = message(folder)
    assert f"{name} = 5" in text and f"set {name} to 3" in text


@pytest.mark.parametrize(
    ("case", "name", "value"),
    [("llama", "intermediate_size", 40), ("roberta", "vocab_size", 60), ("gpt2", "n_positions", 40)],
)
def test_other_shapes_are_named_with_the_setting(save, case, name, value):
    folder = save(case)
    configure(folder, **{name: value})
    text = message(folder)
    assert str(value) in text and ("has shape" in text)
    assert name in text or case == "gpt2"


@pytest.mark.parametrize(("case", "end"), [("bert", "1.output.LayerNorm.bias"), ("llama", "model.norm.weight")])
def test_one_weight_too_few_is_named(save, case, end):
    folder = save(case)
    rename(folder, lambda name: None if name.endswith(end) else name)
    assert "lacks 1 weight (" in (text := message(folder)) and end in text


def test_old_names_and_buffers_are_taken(save):
    folder = save("bert")
    path = folder / "model.safetensors"
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    weights = load_file(path) | {"bert.embeddings.position_ids": torch.arange(24)[None], "cls.bias": torch.zeros(3)}
    for new, name in old.items():
        weights = {key.replace(new, name): value for key, value in weights.items()}
    save_file(weights, path, {"format": "pt"})
    check(folder)
    loaded = load_classifier(folder).state_dict()
    assert all(torch.equal(weight, loaded[name]) for name, weight in make_model("bert").state_dict().items())


def test_shards_are_read_and_one_that_is_gone_is_named(tmp_path):
    make_model("gpt2").save_pretrained(tmp_path, max_shard_size="20KB")
    check(tmp_path)
    first = sorted(tmp_path.glob("model-*"))[0]
    first.unlink()
    assert first.name in message(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"", "cut off"),
        (b"PK\x03\x04" + bytes(60), "no safetensors file"),
    ],
)
def test_a_file_that_is_no_weights_is_named(save, content, words):
    folder = save("bert")
    (folder / "model.safetensors").write_bytes(content)
    assert words in message(folder)


def test_a_file_that_is_cut_off_is_named(save):
    path = (folder := save("bert")) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert f"{path.stat().st_size} bytes" in message(folder)


def test_quantised_weights_are_named(save):
    folder = save("llama")
    configure(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(InputError, match="quantization_config"):
        check(folder)
    folder = save("bert")
    path = folder / "model.safetensors"
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file(load_file(path) | {name: torch.zeros(32, 48, dtype=torch.int8)}, path, {"format": "pt"})
    with pytest.raises(InputError, match=f"{name} is stored as I8"):
        check(folder)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pytorch_model.bin", "BertForSequenceClassification.from_pretrained("),
        ("pytorch_model-00001-of-00002.bin", "save_pretrained("),
        ("tf_model.h5", "from_tf=True"),
        ("adapter_model.safetensors", "merge_and_unload"),
        ("epoch=3.ckpt", "epoch=3.ckpt is not read"),
        ("notes.txt", "copy its weights"),
    ],
)
def test_a_folder_without_safetensors_says_the_way_to_them(save, name, words):
    folder = save("bert")
    (folder / "model.safetensors").rename(folder / name)
    with pytest.raises(InputError, match=r"there is no model\.safetensors in it") as error:
        check(folder)
    assert words in str(error.value)


def test_the_conversion_of_a_pickle_that_the_message_gives_works(save):
    from transformers import BertForSequenceClassification

    folder = save("bert")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    BertForSequenceClassification.from_pretrained(str(folder)).save_pretrained(str(folder))
    check(folder)
    assert torch.equal(load_classifier(folder).classifier.weight, make_model("bert").classifier.weight)


@pytest.mark.parametrize(
    ("name", "value"),
    [("hidden_size", "32"), ("num_attention_heads", 0), ("model_type", "mamba"), ("model_type", None)],
)
def test_settings_that_no_model_can_have_are_named(save, name, value):
    folder = save("bert")
    configure(folder, **{name: value})
    with pytest.raises(InputError, match=f"{name} = {value!r}"):
        check(folder)


@pytest.mark.parametrize("missing", ["classifier.weight", "bert.pooler.dense.bias"])
def test_a_fine_tuned_checkpoint_without_its_head_is_refused_where_it_is_used(save, missing):
    folder = save("bert")
    rename(folder, lambda name: None if name == missing else name)
    check(folder)
    load_classifier(folder, new_head=True)
    with pytest.raises(InputError, match=missing):
        load_classifier(folder)


def test_weights_that_config_json_has_no_place_for_are_a_warning(save, caplog):
    folder = save("bert")
    configure(folder, num_hidden_layers=2)
    check(folder)
    load_classifier(folder)
    assert "16 weights (bert.encoder.layer.2." in caplog.text


# ---- tokenizer


@pytest.mark.parametrize(
    ("case", "files", "words"),
    [
        ("bert", {"merges.txt": "a b"}, "vocab.txt"),
        ("gpt2", {"vocab.json": '{"a": 0}'}, "vocab.json and merges.txt"),
        ("roberta", {"vocab.txt": "a\nb"}, "vocab.json and merges.txt"),
        ("deberta-v3", {"spiece.model": "a"}, "spm.model"),
        ("albert", {"spm.model": "a"}, "spiece.model"),
        ("llama", {}, "tokenizer.model"),
    ],
)
def test_a_tokenizer_whose_files_are_not_there_is_named(save, case, files, words):
    folder = save(case)
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(InputError, match="no files of a tokenizer") as error:
        check_tokenizer(folder, config_of(folder))
    assert words in str(error.value) and all(name in str(error.value) for name in files)


def test_a_tokenizer_of_another_class_is_made_from_its_files(save):
    folder = save("bert")
    for name, text in {"vocab.json": '{"a": 0, "b": 1}', "merges.txt": "a b"}.items():
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=r"vocab\.txt"):
        check_tokenizer(folder, config_of(folder))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizerFast"}')
    check_tokenizer(folder, config_of(folder))


@pytest.mark.parametrize(
    ("name", "text", "token"),
    [
        ("special_tokens_map.json", {"additional_special_tokens": ["<mark>"]}, "'<mark>' (50)"),
        ("tokenizer_config.json", {"extra_special_tokens": {"image": {"content": "<mark>"}}}, "'<mark>' (50)"),
        ("tokenizer_config.json", {"added_tokens_decoder": {"70": {"content": "<mark>"}}}, "'<mark>' (70)"),
        ("added_tokens.json", {"<mark>": 50}, "'<mark>' (50)"),
        ("vocab.txt", "\n".join([*WORDS, "more"]), "'more' (50)"),
    ],
)
def test_tokens_beyond_the_embeddings_are_named(model, name, text, token):
    check_files(model)
    (model / name).write_text(text if isinstance(text, str) else json.dumps(text))
    with pytest.raises(InputError, match=r"vocab_size = 50.*resize_token_embeddings") as error:
        check_files(model)
    assert token in str(error.value)


def test_a_padding_token_of_the_tokenizer_counts_where_the_model_has_none_of_its_own(model):
    (model / "tokenizer_config.json").write_text(json.dumps({"pad_token": "<pad>"}))
    check_files(model)
    configure(model, pad_token_id=None)
    with pytest.raises(InputError, match="<pad>"):
        check_files(model)


def test_a_tokenizer_json_that_cannot_be_read_is_named(model):
    for text, words in (("{", "cannot be read"), ("{}", "model.vocab"), ("[]", "expected a JSON object")):
        (model / "tokenizer.json").write_text(text)
        with pytest.raises(InputError, match=r"tokenizer\.json") as error:
            check_files(model)
        assert words in str(error.value)


@pytest.mark.parametrize(("case", "file"), [("deberta-v3", "spm.model"), ("llama", "tokenizer.model")])
def test_without_the_packages_that_read_sentencepiece_it_is_said(save, monkeypatch, case, file):
    folder = save(case)
    (folder / file).write_bytes(b"pieces")
    check_tokenizer(folder, config_of(folder))
    monkeypatch.setattr(tokenizer_files, "_installed", lambda module: module != "sentencepiece")
    with pytest.raises(InputError, match="pip install sentencepiece`"):
        check_tokenizer(folder, config_of(folder))


def test_a_tokenizer_that_found_no_word_is_refused_when_it_is_made(model, monkeypatch):
    class Task:
        max_length = 10

    pretrained = PretrainedModel(name="m", source="pretrained", folder=str(model))
    assert len(make_tokenizer(pretrained, Task)) == 50
    (model / "vocab.txt").write_text("\n".join(WORDS[:5]))
    with pytest.raises(InputError, match="found no word"):
        make_tokenizer(pretrained, Task)


# ---- positions


@pytest.mark.parametrize(
    ("case", "longest"), [("bert", 24), ("distilbert", 24), ("electra", 24), ("gpt2", 24), ("deberta-v2", 24)]
)
def test_learned_positions_are_at_least_as_many_as_tokens(save, case, longest):
    folder = save(case)
    check_positions(folder, config_of(folder), longest)
    with pytest.raises(InputError, match=rf"task\.max_length = {longest + 1}.*at most {longest},"):
        check_positions(folder, config_of(folder), longest + 1)


@pytest.mark.parametrize("pad", [0, 1, 3])
def test_robertas_first_positions_are_not_for_tokens(save, pad):
    folder = save("roberta", pad_token_id=pad)
    longest = 24 - pad - 1
    loaded, ids = load_classifier(folder), torch.full((1, longest + 1), 7)
    assert loaded(ids[:, :-1]).logits.shape == (1, 3)
    check_positions(folder, config_of(folder), longest)
    with pytest.raises(InputError, match=f"at most {longest},"):
        check_positions(folder, config_of(folder), longest + 1)
    with pytest.raises((IndexError, RuntimeError)):
        loaded(ids)


@pytest.mark.parametrize(
    "case", ["llama", "gpt_neox", "mistral", "modernbert", "deberta-v3", "gemma2", "qwen3", "olmo"]
)
def test_computed_positions_take_any_length(save, case):
    folder = save(case)
    check_positions(folder, config_of(folder), 100)
    assert load_classifier(folder)(torch.full((1, 100), 7)).logits.isfinite().all()


# ---- where it is said, and which files count


def test_a_model_of_the_hub_is_checked_once_it_is_in_the_cache(model, monkeypatch):
    of_hub = PretrainedModel(name="m", source="pretrained", hub="a/b", revision="0" * 40)
    monkeypatch.setattr(folders, "cached_model", lambda *commit: model)
    assert fault(of_hub, None, 24) is None
    assert "at most 24" in fault(of_hub, None, 25)

    def missing(*commit):
        raise InputError("not there")

    monkeypatch.setattr(folders, "cached_model", missing)
    assert fault(of_hub, None, 25) is None


def test_only_files_that_a_model_is_loaded_from_count(model, tmp_path, monkeypatch):
    of_folder = PretrainedModel(name="m", source="pretrained", folder=str(model))
    counted = local_files(of_folder)
    assert counted == [str(model / name) for name in ("config.json", "model.safetensors", "vocab.txt")]
    others = ("README.md", "trainer_state.json", "training_args.bin", "optimizer.pt", ".DS_Store", "pytorch_model.bin")
    others += (
        "all_results.json",
        "model-00001-of-00001.safetensors",
        "events.out.tfevents",
        "vocab.txt~",
        "chat.jinja",
    )
    for name in others:
        (model / name).write_text("x")
    assert local_files(of_folder) == counted
    (model / "special_tokens_map.json").write_text("{}")
    assert set(local_files(of_folder)) - set(counted) == {str(model / "special_tokens_map.json")}


def test_shards_count(tmp_path):
    make_model("gpt2").save_pretrained(tmp_path, max_shard_size="20KB")
    files = local_files(PretrainedModel(name="m", source="pretrained", folder=str(tmp_path)))
    assert str(tmp_path / "model.safetensors.index.json") in files
    assert sum(name.endswith(".safetensors") for name in files) == len(list(tmp_path.glob("model-*"))) > 1
