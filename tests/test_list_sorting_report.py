"""The report of a list-sorting study: its claims, its sliders, and what it leaves out."""

import base64
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from list_sorting_tables import CONDITIONS, TABLES
from mentions import mentions
from pages import check_source, chromium, needs_chromium
from PIL import Image
from test_scripts import script

from heuristic_core.config.claims import load_claims
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures import build_sheets, draw
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.slider import sliders
from heuristic_core.figures.save import save
from heuristic_core.report import exhibits
from heuristic_core.tables.parquet import write_table

CLAIMS = ROOT / "src" / "heuristic_core" / "experiments" / "list_sorting" / "claims.yaml"
SHOWN = ("figure_circuits", "table_conditions")


def write_report(root, *targets):
    captions = [ROOT / "workflow" / "report" / "list_sorting" / f"{name}.rst" for name in targets]
    words = ["--root", root, "--settings", root / "study.json", "--claims", root / "tables" / "claims.parquet"]
    words += ["--captions", *captions, "--targets", *targets, "--report", root / "report.html", "--log", root / "log"]
    script("sorting_report").main([str(part) for part in words])
    return root / "report.html"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("results") / "made"
    for name in SHOWN:
        figure, marks = draw(name, TABLES, Figure(dpi=50))
        save(root, name, figure, marks, Figure(dpi=50), TARGETS[name].title, build_sheets(name, marks))
    for name, table in TABLES.items():
        write_table(name, table, root / "tables" / f"{name}.parquet")
    words = ["--claims", CLAIMS, "--table", root / "tables" / "claims.parquet", "--study", "made", "--tables"]
    script("sorting_claims").main([str(part) for part in [*words, *(root / "tables").glob("sorting_*.parquet")]])
    settings = {"study": "made", "conditions": {name: {} for name in CONDITIONS}}
    (root / "study.json").write_text(json.dumps({"context": None, "settings": settings}))
    return root


@pytest.fixture(scope="module")
def report(study):
    return write_report(study, *SHOWN)


def test_claims_figures_and_tables_are_shown(report):
    page = check_source(report)
    (sorts,) = (claim for claim in load_claims(CLAIMS) if claim.claim == "sorts")
    assert " ".join(sorts.sentence.split()) in page.text and mentions(page.text, "> 95 %", *CONDITIONS)
    assert {*SHOWN} <= {*re.findall(r'id="(\w+)"', report.read_text())}
    assert "fine-tuning" not in page.text and mentions(page.text, "2501.18666")


def test_a_slider_has_a_frame_for_each_checkpoint_and_begins_at_the_last(report):
    page = check_source(report)
    assert [a["data-steps"] for a in page.all("input")] == ["0 32 316"] * 2 * len(CONDITIONS)  # two seeds
    frames = [a for a in page.all("div") if a.get("class") == "frame"]
    assert ["hidden" in frame for frame in frames] == [True, True, False] * 2 * len(CONDITIONS)


def test_frames_show_red_for_positive_and_blue_for_negative(tmp_path):
    """Two heads of two tokens: head 0 copies and head 1 suppresses the first token; QK is half as dark as it can be."""
    rows = [
        {"condition": "a", "seed": 1, "step": step, "circuit": circuit, "head": head, "row": row, "unit": 4.0}
        | {"values": f"{value if row == 0 else 0} 0"}
        for step in (10, 0)
        for circuit, head, value in (("ov", 0, 8.0), ("ov", 1, -4.0), ("qk", 0, 2.0), ("qk", 1, 0.0))
        for row in (0, 1)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "marks.csv", index=False)
    (slider,) = sliders(tmp_path / "marks.csv")
    assert [frame.step for frame in slider.frames] == [0, 10]
    assert (slider.circuits, slider.heads) == (["QK", "OV"], [0, 1])
    image = Image.open(io.BytesIO(base64.b64decode(slider.frames[0].image.partition(",")[2]))).convert("RGB")
    assert image.size == (slider.frames[0].width, slider.frames[0].height)
    pixels = np.asarray(image).astype(int)
    last = len(pixels) // 2 + 10  # beyond the gap in the middle
    copying, suppressing, score, nothing = pixels[last, 0], pixels[last, last], pixels[0, 0], pixels[0, last]
    assert tuple(copying) == (103, 0, 31) and tuple(suppressing) == (5, 48, 97) and tuple(nothing) == (255,) * 3
    assert np.abs(score - (255 + copying) / 2).max() <= 2


def test_a_study_without_circuits_has_no_slider(study, tmp_path):
    page = check_source(write_report(study, "table_conditions"))
    assert not page.all("input")


def test_values_that_are_many_are_linked(study, monkeypatch):
    monkeypatch.setattr(exhibits, "MAX_INLINE_BYTES", 10_000)
    links = {a["download"]: a["href"] for a in check_source(write_report(study, *SHOWN)).all("a") if "download" in a}
    assert links["made-figure_circuits.csv"] == "figures/figure_circuits.csv"
    assert links["made-table_conditions.csv"].startswith("data:text/csv")


@pytest.mark.slow
@needs_chromium
def test_moving_a_slider_shows_another_frame(report, tmp_path):
    move = "const i = document.querySelector('input'); i.value = 1; i.dispatchEvent(new Event('input'));"
    path = tmp_path / "moved.html"
    path.write_text(report.read_text().replace("</body>", f"<script>{move}</script></body>"))
    dumped = chromium("--dump-dom", path.as_uri(), folder=tmp_path)
    first = dumped[dumped.index("<h3>l2, seed 1</h3>") : dumped.index("<h3>l2, seed 3</h3>")]
    assert [part.startswith(' hidden=""') for part in first.split('<div class="frame"')[1:]] == [True, False, True]
    assert "32</output>" in first
