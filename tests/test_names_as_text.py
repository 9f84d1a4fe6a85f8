"""Names of the data as text: dollars, markup, other scripts; too many of them."""

import logging
import os
import subprocess
import sys

import pandas as pd
import pytest
from figure_tables import CONTEXT
from matplotlib.figure import Figure as Canvas
from mentions import raises

from heuristic_core.config.figure import Figure
from heuristic_core.data.evaluation_subsets import MAX_SUBSETS, check_subset_name
from heuristic_core.data.readers import DataError
from heuristic_core.experiments.subnetworks.experiment import _find_missing_glyphs
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.figures import glyphs, style
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.save import save
from heuristic_core.figures.sheets import MarkdownCell, Sheet, to_latex, to_markdown
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.parquet import write_table

LACKING = ["漢字", "한국어", "ไทย"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("figure02", "$5 off and $6"),
        ("figure03", "$\\frac{$ x"),
        ("figure10", "a^b_{c}$$"),
        ("figure_counter_heads", "$$"),
    ],
)
def test_dollars_in_names_begin_no_formula(tables, target, name, tmp_path):
    named = {key: frame.replace({"subset": {"ln_prep": name}}) for key, frame in tables.items() if "subset" in frame}
    figure, _ = draw(target, tables | named, Figure(dpi=40), CONTEXT)
    with style.use_style(parse_math=False):
        figure.draw_without_rendering()
    texts = [text for text in figure.findobj(lambda item: hasattr(item, "get_parse_math")) if name in text.get_text()]
    assert texts and not any(text.get_parse_math() for text in texts)


@pytest.mark.parametrize("name", LACKING)
def test_characters_that_no_font_has_are_named_once(name, tmp_path, caplog, recwarn, monkeypatch):
    monkeypatch.setattr(glyphs, "_find_fonts", lambda characters: ([], set(characters)))
    canvas = Canvas(figsize=(2, 1))
    canvas.subplots().set_title(f"{name} é")
    with caplog.at_level(logging.WARNING):
        save(tmp_path, "figure02", canvas, pd.DataFrame({"a": [1]}), Figure(dpi=40), "t")
    (record,) = caplog.records
    assert all(f"U+{ord(item):04X}" in record.message for item in name) and "é" not in record.message
    assert not [item for item in recwarn if "Glyph" in str(item.message)]


def test_a_font_of_the_machine_is_used_where_it_has_what_ours_lacks(monkeypatch):
    monkeypatch.setattr(glyphs, "_find_fonts", lambda characters: (["STIXGeneral"], set()))
    canvas = Canvas()
    ax = canvas.subplots()
    ax.set(title="漢", xlabel="plain", ylabel="größer − ≤ ا")
    assert glyphs.add_fallback_fonts(canvas)
    assert ax.title.get_fontfamily() == ["DejaVu Sans", "STIXGeneral"]
    assert ax.xaxis.label.get_fontfamily() == ax.yaxis.label.get_fontfamily() != ax.title.get_fontfamily()
    ax.set_title("")
    assert not glyphs.add_fallback_fonts(canvas)


def test_the_end_of_a_run_names_characters_of_subsets(tmp_path, monkeypatch):
    monkeypatch.setattr(glyphs, "_find_fonts", lambda characters: ([], set(characters)))
    path = tmp_path / "splits.parquet"
    assert _find_missing_glyphs(path) == []
    for names, missing_count in ((["train", "dev"], 0), (["train", "näive"], 0), (["train", "漢", "字"], 1)):
        write_table("splits", make_frame("splits", [{"subset": name} for name in names]), path)
        assert len(_find_missing_glyphs(path)) == missing_count


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["nonsense", "module://matplotlib_inline.backend_inline"])
def test_the_end_of_a_run_needs_no_backend_of_the_environment(tmp_path, backend):
    path = tmp_path / "splits.parquet"
    write_table("splits", make_frame("splits", [{"subset": "漢"}]), path)
    module = "heuristic_core.experiments.subnetworks.experiment"
    code = f"from {module} import _find_missing_glyphs as said, Path; said(Path({str(path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"MPLBACKEND": backend})


@pytest.mark.parametrize(
    ("cell", "markdown", "latex"),
    [
        ("a|b\\c", r"a\|b\\c", r"a|b\textbackslash{}c"),
        ("*x* _y_ a_b", r"\*x\* \_y\_ a_b", r"{*}x* \_y\_ a\_b"),
        ("one\n\ntwo\tthree", "one two three", "one two three"),
        ("<b>$5 ^ `c`", r"\<b>\$5 ^ \`c\`", r"<b>\$5 \textasciicircum{} `c`"),
        ("[95](x) &lt; A&B", r"[95]\(x) \&lt; A&B", r"{[}95](x) \&lt; A\&B"),
        ("漢 é {x}", "漢 é {x}", r"漢 é \{x\}"),
    ],
)
def test_cells_are_plain_text(cell, markdown, latex):
    sheet = Sheet("", ["subset", "n"], [[cell, "1"]])
    assert f"| {markdown} | 1 |" in to_markdown([sheet])
    assert f"\n{latex} & 1 \\\\" in to_latex([sheet], "", "l")
    assert f"| {cell} |" in to_markdown([Sheet("", ["a"], [[MarkdownCell(cell)]])])


def test_a_column_of_identifiers_is_refused_and_many_kinds_are_not():
    names = [f"kind{k}" for k in range(MAX_SUBSETS)]
    check_subset_name("dev", "last", names[1:])
    with raises(DataError, "task.evaluation.dev", "'more'", 500, "split_by"):
        check_subset_name("dev", "more", names)


@pytest.mark.parametrize("dpi", [100, 600])
def test_figures_are_no_taller_than_matplotlib_draws(dpi):
    figure, _ = make_panels(Figure(dpi=dpi), 1, 1, 2000)
    assert figure.get_size_inches()[1] * dpi < 2**16
