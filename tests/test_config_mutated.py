"""Whatever a hand may write becomes a study or a named error."""

import copy
import json

import pytest
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st
from test_config import FILES, VALUES

from heuristic_core.config import ConfigError, parse_study
from heuristic_core.config.context import Context
from heuristic_core.config.grid import cells
from heuristic_core.config.paths import Layout

WORDS = st.sampled_from(["1e-3", "new", "generated", "pretrained", "files", "../a", "source", "steps", "nan"])


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS


ANYTHING = SCALARS | st.lists(SCALARS, max_size=4) | st.dictionaries(SCALARS, SCALARS, max_size=3)


def blocks(values):
    """Every mapping and list inside `values`, itself included."""
    yield values
    for part in values.values() if isinstance(values, dict) else values:
        if isinstance(part, dict | list):
            yield from blocks(part)


@st.composite
def mutated(draw):
    """A configuration of the repository, one to three times changed: a key dropped, a value replaced, a key added."""
    values = copy.deepcopy(VALUES[draw(st.sampled_from(FILES))])
    for _ in range(draw(st.integers(1, 3))):
        block = draw(st.sampled_from(list(blocks(values))))
        keys = list(block) if isinstance(block, dict) else list(range(len(block)))
        change = draw(st.sampled_from(["drop", "replace", "add"])) if keys else "add"
        if change == "drop":
            del block[draw(st.sampled_from(keys))]
        elif change == "replace":
            block[draw(st.sampled_from(keys))] = draw(ANYTHING)
        elif isinstance(block, dict):
            block[draw(SCALARS)] = draw(ANYTHING)
        else:
            block.append(draw(ANYTHING))
    return values


@pytest.mark.sampled
@settings(max_examples=amount(400), deadline=None, derandomize=True)
@given(mutated())
def test_any_change_ends_in_a_study_or_in_a_named_error(values):
    try:
        study = parse_study(values, "x.yaml")
    except ConfigError as error:
        first, *lines = str(error).splitlines()
        assert first == "x.yaml cannot be run:" and lines
        return
    assert parse_study(json.loads(study.model_dump_json())) == study
    assert Context.model_validate_json(Context.of(study).model_dump_json()) == Context.of(study)
    sizes = [len(cells(study)), len(study.grid.checkpoints) * len(study.grid.sparsities) * len(study.grid.curve_seeds)]
    assert sizes[0] >= sizes[1] > 0
    assert Layout.of(study).cell.startswith(f"{study.results}/{study.study}/{study.model.name}/{study.task.name}/")
