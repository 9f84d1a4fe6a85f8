"""Every setting can be set: by YAML, and by the JSON that a job gets."""

from itertools import islice
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import pytest
import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from heuristic_core.config.blocks import Block
from heuristic_core.config.reading import ConfigError, validate
from heuristic_core.experiments.reference import list_references
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.jobs.arguments import read_block
from heuristic_core.jobs.command import format_block

TEXTS = (
    "a",
    "a.b",
    "a/b",
    "0" * 40,
    "0" * 64,
    "https://a.b/c",
    "0.1",
    "1.0+1.1",
    "results/a",
    "A",
    "{a,b} ^x{4,8}$ '",
    "1",
)


def blocks(kind, seen=None):
    """All kinds of blocks below `kind`."""
    seen = {} if seen is None else seen
    if isinstance(kind, type) and issubclass(kind, Block):
        if kind in seen:
            return seen
        seen[kind] = None
        kinds = [field.annotation for field in kind.model_fields.values()]
    else:
        kinds = get_args(kind)
    for below in kinds:
        blocks(below, seen)
    return seen


FIELDS = {
    f"{kind.__module__}.{kind.__name__}.{name}": field
    for words in list_references()
    for kind in blocks(words.study)
    for name, field in kind.model_fields.items()
    if not blocks(field.annotation)  # whose own fields are here, too
}


def samples(kind):
    """Values of `kind` as YAML has them, not all of them valid."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from samples(inner[0])
    elif origin is Literal:
        yield from reversed(inner)
    elif origin in (Union, UnionType):
        for item in inner:
            yield from samples(item)
    elif origin is tuple:
        for first in samples(inner[0]):
            yield [first, next(iter(samples(inner[1])))]
            yield [first, first]
    elif origin is list:
        items = list(samples(inner[0]))
        yield from ([item] * count for item in items for count in (1, 2, 11))
        yield from ([a, b] for a in items for b in items)
    elif origin is dict:
        yield from ({key: value} for key in samples(inner[0]) for value in samples(inner[1]))
    else:
        yield from {str: TEXTS, int: (1, 2, 0, 30, 1000), float: (0.5, 2.5, 1.0), bool: (True,), type(None): ()}.get(
            kind, ({},)
        )


def adapter(field):
    kind = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return TypeAdapter(kind, config=ConfigDict(strict=True))


def valid(type_adapter, kind):
    """The values of YAML's that `type_adapter` takes."""
    for value in samples(kind):
        try:
            yield type_adapter.validate_python(yaml.safe_load(yaml.safe_dump(value)))
        except ValidationError:
            continue


@pytest.mark.parametrize("name", FIELDS)
def test_a_setting_goes_by_yaml_and_by_json(name):
    field = FIELDS[name]
    type_adapter = adapter(field)
    values = list(islice(valid(type_adapter, field.annotation), 3))
    assert values, f"no value of YAML's is a {field.annotation}"
    for value in values:
        assert type_adapter.validate_json(type_adapter.dump_json(value)) == value


def test_pairs_whose_attention_is_drawn_reach_their_job():
    pairs = [["The lamp is {red}.", "'Is' the $lamp?"], ["x", "y"]]
    analysis = Analysis.model_validate(yaml.safe_load(yaml.safe_dump({"example_pairs": pairs})))
    result = read_block("analysis", Analysis, format_block(analysis, {"attention_pairs", "example_pairs"}))
    assert result.example_pairs == pairs
    for wrong in ([[]], [["a", "b", "c"]], ["ab"], [["a", ""]], [["a", 1]]):
        with pytest.raises(ConfigError, match=r"example_pairs\.0"):
            validate(Analysis, {"example_pairs": wrong}, "study.yaml")
