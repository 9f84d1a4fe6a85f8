"""From sentence pairs to token arrays, with the model's own Hugging Face tokenizer."""

from collections.abc import Sequence

from heuristic_core.tasks.encoded import Encoded, Subset, from_lists, token_types
from heuristic_core.tasks.pairs import SubsetRule


def encode(rows: Sequence[dict], tokenizer, max_length: int, rules: Sequence[SubsetRule] = ()) -> Encoded:
    """Encode rows of table `sentences`; pairs beyond `max_length` tokens lose the end of their longer sentence.

    rules: for an evaluation set, its subsets in the order of the rows.
    """
    encoding = tokenizer(
        [row["sentence1"] for row in rows],
        [row["sentence2"] for row in rows],
        truncation="longest_first",
        max_length=max_length,
        return_special_tokens_mask=True,
        return_attention_mask=False,
    )
    return from_lists(
        encoding["input_ids"],
        [token_types(encoding.sequence_ids(row)) for row in range(len(rows))],
        encoding["special_tokens_mask"],
        [row["label"] for row in rows],
        _slices([row["subset"] for row in rows], rules),
        [row["template"] for row in rows],
    )


def _slices(names: list[str], rules: Sequence[SubsetRule]) -> tuple[Subset, ...]:
    subsets, start = [], 0
    for rule in rules:
        stop = start + names.count(rule.name)
        if set(names[start:stop]) != {rule.name}:
            raise ValueError(f"the rows of subset {rule.name} are not together, or there are none")
        subsets.append(Subset(rule.name, rule.group, rule.family, rule.merge, start, stop))
        start = stop
    if rules and start < len(names):
        raise ValueError(f"{len(names) - start} rows belong to no subset, the first of them to {names[start]}")
    return tuple(subsets)
