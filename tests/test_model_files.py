"""What is told of a model's weights from its folder's files alone."""

import json
import logging

import pytest
import torch
from families import CASES, make_model
from mentions import mentions, raises
from model_folders import configure, read_model_config, rename
from safetensors.torch import load_file, save_file

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.models.hugging_face import load_classifier
from heuristic_core.models.weight_validation import check_weights
from heuristic_core.plan.shapes import read_shape


def check(folder):
    check_weights(folder, read_model_config(folder))


def message(folder) -> str:
    """Why the folder is refused by its files, and by transformers."""
    with pytest.raises(InputError) as error:
        check(folder)
    with pytest.raises(InputError):
        load_classifier(folder, new_head=True)
    return str(error.value)


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
    assert "classifier" in line or "score" in line
    assert "REPORT" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("case", "prefix"),
    [("gpt2", "_orig_mod."), ("roberta", "model."), ("llama", "module."), ("deberta-v3", "net.encoder_model.")],
)
def test_a_prefix_before_every_name_is_named(save, case, prefix):
    folder = save(case)
    rename(folder, lambda name: prefix + name)
    assert mentions(message(folder), f"removeprefix({prefix!r})")


@pytest.mark.parametrize(("case", "size"), [("bert", "20KB"), ("llama", "1GB")])
def test_what_is_said_of_a_prefix_mends_it(tmp_path, case, size):
    make_model(case).save_pretrained(tmp_path, max_shard_size=size)
    for path in tmp_path.glob("*.safetensors"):
        save_file({f"module.{name}": weight for name, weight in load_file(path).items()}, path, {"format": "pt"})
    if (index := tmp_path / "model.safetensors.index.json").exists():
        whole = json.loads(index.read_text())
        names = {f"module.{name}": file for name, file in whole["weight_map"].items()}
        index.write_text(json.dumps(whole | {"weight_map": names}))
    code = "\n".join(line[4:] for line in message(tmp_path).splitlines() if line.startswith("    "))
    exec(code, {})
    check(tmp_path)
    loaded = load_classifier(tmp_path).state_dict()
    assert all(torch.equal(weight, loaded[name]) for name, weight in make_model(case).state_dict().items())


@pytest.mark.parametrize(
    ("case", "before", "after"),
    [("bert", "query.weight", "query.base_layer.weight"), ("roberta", "value.weight", "value.base_layer.weight")],
)
@pytest.mark.parametrize("prefix", ["", "base_model.model."])
def test_weights_of_an_adapter_are_to_be_merged(save, case, before, after, prefix):
    folder = save(case)
    rename(folder, lambda name: prefix + name.replace(before, after))
    assert "merge_and_unload" in message(folder)


def test_names_without_those_of_the_base_model_can_have_a_prefix_too(save):
    folder = save("distilbert")
    rename(folder, lambda name: name.replace("distilbert.", "student."))
    assert "'student.'" in message(folder)


@pytest.mark.parametrize(
    ("config", "weights"), [("distilbert", "bert"), ("bert", "electra"), ("llama", "qwen2"), ("gpt2", "gpt_neox")]
)
def test_weights_of_another_architecture_are_named(tmp_path, config, weights):
    make_model(weights).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(make_model(config).config.to_json_string())
    with raises(InputError, weights, "model_type", f"'{config}'"):
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
    assert mentions(message(folder), name, 5, 3)


@pytest.mark.parametrize(
    ("case", "name", "value"),
    [("llama", "intermediate_size", 40), ("roberta", "vocab_size", 60), ("gpt2", "n_positions", 40)],
)
def test_other_shapes_are_named_with_the_setting(save, case, name, value):
    folder = save(case)
    configure(folder, **{name: value})
    text = message(folder)
    assert mentions(text, value) and (name in text or case == "gpt2")


@pytest.mark.parametrize("text", ['{"model_type": "bert", "hid', "[]"])
def test_a_config_that_was_cut_off_is_named(save, text):
    folder = save("bert")
    (folder / "config.json").write_text(text)
    with pytest.raises(InputError, match=r"config\.json"):
        read_shape(PretrainedModel(name="m", source="pretrained", folder=str(folder)))


@pytest.mark.parametrize(("case", "name"), [("bert", "num_attention_heads"), ("distilbert", "n_heads")])
def test_heads_that_do_not_divide_the_hidden_size_are_named(save, case, name):
    folder = save(case)
    configure(folder, **{name: 7})
    with raises(InputError, name, 7):
        check(folder)


@pytest.mark.parametrize(("case", "end"), [("bert", "1.output.LayerNorm.bias"), ("llama", "model.norm.weight")])
def test_one_weight_too_few_is_named(save, case, end):
    folder = save(case)
    rename(folder, lambda name: None if name.endswith(end) else name)
    assert mentions(text := message(folder), 1) and end in text


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
        (b"", "model.safetensors"),
        (b"PK\x03\x04" + bytes(60), "model.safetensors"),
    ],
)
def test_a_file_that_is_no_weights_is_named(save, content, words):
    folder = save("bert")
    (folder / "model.safetensors").write_bytes(content)
    assert words in message(folder)


def test_a_file_that_is_cut_off_is_named(save):
    path = (folder := save("bert")) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert mentions(message(folder), path.stat().st_size)


def test_quantised_weights_are_named(save):
    folder = save("llama")
    configure(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(InputError, match="quantization_config"):
        check(folder)
    folder = save("bert")
    path = folder / "model.safetensors"
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file(load_file(path) | {name: torch.zeros(32, 48, dtype=torch.int8)}, path, {"format": "pt"})
    with raises(InputError, name, "I8"):
        check(folder)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pytorch_model.bin", "BertForSequenceClassification.from_pretrained("),
        ("pytorch_model-00001-of-00002.bin", "save_pretrained("),
        ("tf_model.h5", "from_tf"),
        ("adapter_model.safetensors", "merge_and_unload"),
        ("epoch=3.ckpt", "epoch=3.ckpt"),
        ("notes.txt", "model.safetensors"),
    ],
)
def test_a_folder_without_safetensors_says_the_way_to_them(save, name, words):
    folder = save("bert")
    (folder / "model.safetensors").rename(folder / name)
    with raises(InputError, "model.safetensors") as error:
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
    with raises(InputError, name, repr(value)):
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
    assert mentions(caplog.text, 16) and "bert.encoder.layer.2." in caplog.text
