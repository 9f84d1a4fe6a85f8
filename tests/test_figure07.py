"""Attention between tokens, drawn from the synthetic tables and from maps with a known answer."""

import numpy as np
import pandas as pd
import pytest
from amounts import first_fast
from figure_head_tables import CORE, attention_map_rows, core_rows
from figure_tables import CONTEXT, FT_SEEDS, run, table
from matplotlib.collections import LineCollection
from matplotlib.text import Text
from mentions import mentions, raises

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.figures import draw, write


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(7)
    rows = {"core": core_rows(rng), "attention_maps": attention_map_rows(rng)}
    return {name: table(name, list(of_table)) for name, of_table in rows.items()}


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def panels(figure):
    return [ax for ax in figure.axes if ax.get_title()]


def lines(ax):
    return [c for c in ax.get_children() if isinstance(c, LineCollection)]


def test_every_line_from_the_least_on_is_drawn_for_the_core_heads(tables):
    figure, marks = draw("figure07", tables, Figure(), CONTEXT)
    maps = tables["attention_maps"]
    of_core = maps[(maps["ft_seed"] == 1) & maps["component"].isin(CORE[1])]
    expected = of_core[of_core["probability"] >= 0.1]
    result = marks[marks["ft_seed"] == 1]
    keys = ["pair", "name", "query", "key", "probability"]
    pd.testing.assert_frame_equal(
        result.sort_values(keys)[keys].reset_index(drop=True), expected.sort_values(keys)[keys].reset_index(drop=True)
    )
    assert set(result["role"]) == {"core"} and set(result["heads"]) == {len(CORE[1])}
    assert sum(len(c.get_segments()) for ax in panels(figure) for c in lines(ax)) == len(marks)
    assert len(panels(figure)) == 2 * (len(CORE[1]) + 6)
    assert any(mentions(text, "seed 1", 4) for text in texts(figure))


def test_without_a_core_the_heads_kept_most_often_are_shown_as_such(tables):
    figure, marks = draw("figure07", tables, Figure(), CONTEXT)
    core = tables["core"]
    seed_heads = core[(core["ft_seed"] == 2) & (core["kind"] == "head")]
    kept = (seed_heads["mid"] + seed_heads["high"]).sort_values(ascending=False)
    result = marks[marks["ft_seed"] == 2]
    drawn_heads = seed_heads[seed_heads["name"].isin(result["name"])]
    assert len(drawn_heads) == 6 and (drawn_heads["mid"] + drawn_heads["high"]).min() >= kept.iloc[6]
    (role,) = set(result["role"])
    assert role != "core" and set(result["heads"]) == {0}
    assert any(mentions(text, "seed 2", 6) for text in texts(figure))


@pytest.mark.slow
def test_a_large_core_is_cut_and_the_heading_says_so(tables):
    core = tables["core"].assign(in_core=tables["core"]["component"] < 9)
    figure, marks = draw("figure07", tables | {"core": core}, Figure(), CONTEXT)
    assert any(mentions(text, "seed 2", "6 of 9") for text in texts(figure))
    assert marks["name"].unique().tolist() == [f"0.{head}" for head in range(6)]
    assert set(marks["heads"]) == {9}


def one_head(probabilities):
    """Tables of one core head with attention {(query, key): probability} on `[CLS] the doc ·tor [SEP] Doctor [SEP]`."""
    words, sentences = [None, 0, 1, 1, None, 2, None], [None, 0, 0, 0, None, 1, None]
    tokens = ["[CLS]", "the", "doc", "·tor", "[SEP]", "Doctor", "[SEP]"]
    identity = {"component": 3, "name": "0.3", "kind": "head", "layer": 0, "head": 3}
    same = {(2, 5), (3, 5), (5, 2), (5, 3)}
    rows = [
        run(1, step=2200) | identity | {"pair": 0, "query": query, "key": key, "query_token": tokens[query]}
        | {"key_token": tokens[key], "sentence": sentences[query], "key_sentence": sentences[key]}
        | {"category": None if words[query] is None else "self" if words[query] == words[key] else
           "repeated" if (query, key) in same else "other", "probability": probabilities.get((query, key), 0.0)}
        for query in range(7) for key in range(7)
    ]  # fmt: skip
    core = run(1) | identity | {"mid": 12, "high": 12, "early": None, "in_core": True}
    return {"attention_maps": table("attention_maps", rows), "core": table("core", [core])}


def test_the_share_in_the_title_is_a_mean_over_words_and_repeated_words_stand_out():
    # "the" 0; "doctor" (0.8 + 0.4) / 2; "Doctor" 0.5 + 0.1; special tokens do not ask.
    attention = {(2, 5): 0.8, (3, 5): 0.4, (5, 2): 0.5, (5, 3): 0.1, (1, 0): 1.0, (4, 5): 1.0, (3, 0): 0.09}
    figure, marks = draw("figure07", one_head(attention), Figure(), CONTEXT)
    (ax,) = panels(figure)
    assert mentions(ax.get_title(), "pair 1", "head 0.3", "40 %")
    assert len(marks) == 6  # 0.09 is too little
    (others, repeated) = lines(ax)
    assert len(others.get_segments()) == 2 and len(repeated.get_segments()) == 4
    assert sorted(repeated.get_linewidths()) == list(repeated.get_linewidths())
    assert max(repeated.get_linewidths()) < max(others.get_linewidths())
    assert others.get_linestyles() != repeated.get_linestyles()
    heights = ax.get_yticks()
    assert repeated.get_segments()[-1].tolist() == [[0, heights[2]], [1, heights[5]]]  # the strongest, on top
    steps = -np.diff(heights)
    assert steps.argmax() == 4 and steps.min() > 0  # the gap is before the second sentence
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["[CLS]", "the", "doc", "·tor", "[SEP]", "Doctor", "[SEP]"]


@pytest.mark.slow
def test_the_same_tables_give_the_same_bytes_and_nothing_is_cut_off(tables, tmp_path, recwarn):
    for folder in ("one", "two"):
        figure, marks = draw("figure07", tables, Figure(), CONTEXT)
        write(tmp_path / folder, "figure07", figure, marks, Figure())
    for path in (tmp_path / "one" / "figures").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / "figures" / path.name).read_bytes()
    assert not [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)]
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 7
    figure.draw_without_rendering()
    drawn, page = figure.get_tightbbox(), figure.bbox_inches
    assert drawn.x0 >= -0.01 and drawn.y0 >= -0.01 and drawn.x1 <= page.width + 0.01 and drawn.y1 <= page.height + 0.01


@pytest.mark.parametrize(("name", "named"), [("attention_maps", "attention_maps"), ("core", "core")])
def test_empty_tables_are_refused(tables, name, named):
    with raises(ValueError, "figure07", named):
        draw("figure07", tables | {name: tables[name].head(0)}, Figure(), CONTEXT)


@pytest.mark.parametrize(("width", "columns"), first_fast((3.5, 2), (1.0, 1), (7.0, 3)))
def test_rows_of_panels_are_filled(tables, width, columns):
    figure, marks = draw("figure07", tables, Figure(width=width), CONTEXT)
    assert set(marks["ft_seed"]) == set(FT_SEEDS)
    rows = {}
    for ax in panels(figure):
        rows.setdefault(ax.get_position().y1, []).append(ax)
    assert max(map(len, rows.values())) == columns
    widths = [len(row) for row in rows.values()]
    assert widths.count(columns) >= len(widths) - len(FT_SEEDS)
