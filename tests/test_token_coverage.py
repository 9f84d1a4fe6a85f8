"""What the tokenizer does not cover of pairs: ends beyond the length, and words that it does not know."""

import logging
import random

import pytest
from mentions import mentions, raises
from small_tokenizers import KINDS

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.data.counts import count_rows
from heuristic_core.data.encode import tokenise
from heuristic_core.data.pairs import RowCounts, Sentences, SubsetRule
from heuristic_core.data.token_coverage import add_coverage, warn_of_low_coverage
from heuristic_core.models.special_tokens import count_special_tokens, find_length_problem
from heuristic_core.tables.parquet import as_table

WORDS = "the doctor advised sailing doctors . Sailing"


def row(first, second, subset="train"):
    return {"sentence1": first, "sentence2": second, "label": 0, "subset": subset, "template": None}


def random_rows(count, rng):
    words = WORDS.split()
    return [row(*(" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(2))) for _ in range(count)]


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_truncated_that_are_longer_without_a_limit(kind):
    tokenizer, rows = KINDS[kind](), random_rows(60, random.Random(0))
    lengths = [len(ids) for ids in tokenizer(*([item[f"sentence{k}"] for item in rows] for k in (1, 2)))["input_ids"]]
    least = tokenizer.num_special_tokens_to_add(pair=True) + 2
    for max_length in (least, least + 1, 9, 16, max(lengths) - 1, max(lengths)):
        result = tokenise(rows, tokenizer, max_length)
        assert result.truncated.tolist() == [length > max_length for length in lengths]


@pytest.mark.parametrize("kind", KINDS)
def test_a_length_without_room_for_both_sentences_is_refused_and_known_from_files(kind, tmp_path):
    tokenizer = KINDS[kind]()
    least = tokenizer.num_special_tokens_to_add(pair=True) + 2
    tokenise([row("the doctor", "the")], tokenizer, least)
    for max_length in range(1, least):
        with raises(InputError, "task.max_length", max_length, least):
            tokenise([row("the doctor", "the")], tokenizer, max_length)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    model = PretrainedModel.model_validate({"name": "m", "source": "pretrained", "folder": str(tmp_path)})
    assert count_special_tokens(model) == least - 2
    assert find_length_problem(model, least) is None
    assert mentions(find_length_problem(model, least - 1), least - 1, least)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"post_processor": {"type": "TemplateProcessing"}}', "null"])
def test_where_files_do_not_tell_the_special_tokens_nothing_is_refused(tmp_path, content):
    (tmp_path / "config.json").write_text("{}")
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    model = PretrainedModel.model_validate({"name": "m", "source": "pretrained", "folder": str(tmp_path)})
    assert find_length_problem(model, 1) is None


# ---- table splits, and what is told


def coverages(train, sets, max_length=48, kind="wordpiece"):
    """Rows of table `splits`, and a function that logs and warns of them."""
    rules = tuple(SubsetRule(name, "id", None, (0, 1)) for name in sets)
    evaluation = [row | {"subset": name} for name, rows in sets.items() for row in rows]
    accounts = [RowCounts("train", "train", None, "f", len(train), len(train))]
    accounts += [RowCounts(name, name, "id", "f", len(rows), len(rows)) for name, rows in sets.items()]
    accounts.append(RowCounts("more", "lost", None, "f", 2, 0, {"unlabelled": 2}))
    pairs = Sentences(("a", "b"), train, evaluation, rules, tuple(accounts))
    tokenised = [tokenise(rows, KINDS[kind](), max_length, of) for rows, of in ((train, ()), (evaluation, rules))]
    rows = add_coverage(count_rows(pairs), *tokenised)
    assert as_table("splits", rows).num_rows == len(rows)
    return rows, lambda: warn_of_low_coverage(rows, *tokenised, max_length)


def warnings(caplog):
    return [record.message for record in caplog.records if record.levelno == logging.WARNING]


def test_the_share_of_truncated_pairs_is_counted_for_each_set_and_told(caplog):
    long, short = row("the " * 50, "sailing"), row("the", "sailing")
    rows, warn = coverages([short] * 99 + [long], {"a": [long, short, short, short], "b": [short]})
    result = [(item["subset"], item["truncated"], item["truncated_share"]) for item in rows]
    assert result == [("train", 1, 0.01), ("a", 1, 0.25), ("b", 0, 0.0), ("lost", 0, None)]
    caplog.set_level(logging.INFO, "heuristic_core")
    warn()
    assert any(mentions(message, "train", 1, 100, 48, "0.00") for message in caplog.messages)
    (warning,) = warnings(caplog)  # of a alone: 1 % is not more than 1 %
    assert mentions(warning, "task.max_length", 48, 25.0, "a") and not mentions(warning, "train")


@pytest.mark.parametrize(("unknown", "warned"), [(1, False), (2, True)])
def test_unknown_tokens_are_counted_and_told_with_examples(caplog, unknown, warned):
    known = row("the the the the", "the")
    rows, warn = coverages([known] * (4 - unknown) + [row("the the Straße the", "the")] * unknown, {"a": [known]})
    assert rows[0]["unknown_share"] == unknown / 20 and rows[1]["unknown_share"] == 0
    warn()
    messages = warnings(caplog)
    assert len(messages) == warned
    assert all(mentions(message, 10.0, "train", "'Straße'") for message in messages)


@pytest.mark.parametrize("where", ["train", "evaluation"])
def test_that_no_word_is_known_is_an_error(where):
    known, unknown = row("the doctor", "sailing"), row("東京 大阪", "Straße")
    _, warn = coverages([unknown if where == "train" else known], {"a": [known if where == "train" else unknown]})
    with pytest.raises(InputError) as caught:
        warn()
    assert mentions(str(caught.value), f"task.{where}") and "'東" in str(caught.value)


def test_a_tokenizer_of_bytes_knows_everything(caplog):
    rows, warn = coverages([row("東京 Straße", "x")], {"a": [row("the", "\u0000")]}, kind="roberta")
    warn()
    assert [item["unknown_share"] for item in rows[:2]] == [0, 0] and not warnings(caplog)


def test_of_many_sets_some_are_named(caplog):
    long = row("the " * 50, "sailing")
    _, warn = coverages([long], {f"s{index}": [long] for index in range(9)})
    warn()
    (warning,) = warnings(caplog)
    assert warning.count("100.0 %") == 5 and mentions(warning, 5)  # and as many more


@pytest.mark.parametrize("name", ["train", "train (subset)", "lost"])
def test_a_subset_called_as_training_has_a_coverage_of_its_own(caplog, name):
    long = row("the " * 50, "sailing")
    rows, warn = coverages([row("the", "sailing")] * 3, {name: [long]})
    assert [(item["used"], item["truncated"]) for item in rows[:2]] == [(3, 0), (1, 1)]
    caplog.set_level(logging.INFO, "heuristic_core")
    warn()
    set_name = name if name == "lost" else f"{name} (subset)"
    assert [message.split(":")[0] for message in caplog.messages[:2]] == ["train", set_name]
    (warning,) = warnings(caplog)
    assert mentions(warning, 100.0, set_name)
