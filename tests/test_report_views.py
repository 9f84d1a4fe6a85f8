"""Figures to play with and the page of subnetworks: what they hold, and what a reader does with them in a browser."""

import base64
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from mentions import mentions
from page_studies import HIGH, LAST, MID, SEEDS, component_rows, make_marks, table
from pages import VisibleText, check_source, needs_chromium, run_in_browser
from PIL import Image
from test_report import report, study  # noqa: F401 (fixtures)

from heuristic_core.experiments.subnetworks.report.subnetworks import build_subnetworks
from heuristic_core.experiments.subnetworks.report.views import VIEWS, build_view
from heuristic_core.report.exhibits import encode_picture
from heuristic_core.report.views import Switch, load_library, make_view, rounded_columns

LARGEST = 6_000_000  # bytes of a report
MOST_WORDS = 6_000  # that a reader of a report sees outside of tables, with every fold closed


def embedded(path, name):
    """The JSON that the page at `path` holds under the identifier `name`."""
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', path.read_text())[1])


def accuracies(*cells):
    """Rows of table accuracy: (pruning seed, subset, accuracy) at the mid sparsity, None for the full model."""
    run = {"ft_seed": 1, "step": LAST, "repeat": 0, "group": "ood"}
    return pd.DataFrame(
        table(
            "accuracy",
            [
                run | {"sparsity": MID if seed else 0.0, "seed": seed, "subset": subset, "accuracy": value}
                | {"low": value - 1, "high": value + 1}
                for seed, subset, value in cells
            ],
        )
    )  # fmt: skip


def test_the_full_model_of_figure_2_is_shown_at_every_sparsity():
    view = build_view("figure02", make_marks("figure02", (1, 2)))
    rows = pd.DataFrame(view["columns"])
    assert rows.groupby(["ft_seed", "sparsity", "model"]).size().unique().tolist() == [2]
    assert set(rows["sparsity"]) == {MID, HIGH}
    assert set(rows["model"]) == {"full model", *(f"pruning seed {seed}" for seed in SEEDS)}
    assert [param["bind"]["labels"] for param in view["spec"]["params"]] == [
        ["1", "2"], ["35 %", "50 %"], ["all", "ID", "OOD"]
    ]  # fmt: skip


def test_a_switch_without_a_choice_is_left_out_and_filters_nothing():
    rows = pd.DataFrame({"ft_seed": [1], "value": [1 / 3], "reason": [None]})
    switch = Switch("ft_seed", "fine-tuning seed", [1], ["1"])
    spec = make_view(rows, [switch], [])["spec"]
    assert spec["params"] == [] and spec["transform"] == []
    assert rounded_columns(rows) == {"ft_seed": [1], "value": [0.33], "reason": [None]}


def test_figures_15_and_16_play_as_figure_6_and_tables_and_other_figures_do_not():
    marks = make_marks("figure06", (1,))
    assert build_view("figure15", marks) == build_view("figure16", marks) == build_view("figure06", marks)
    assert build_view("figure07", marks) is None


@pytest.mark.parametrize("name", VIEWS)
def test_what_a_figure_draws_can_be_played_with(name, drawn):
    """Marks as they are read back; what is missing is a null of JSON."""
    _, marks = drawn[name]
    view = build_view(name, pd.read_csv(io.StringIO(marks.to_csv(index=False))))
    json.dumps(view, allow_nan=False)
    means = marks if name in ("figure02", "figure10") else marks[marks["seed"].isna()]  # others: no pruning seeds
    assert len(view["columns"]["value"]) >= len(means)
    without = marks.drop(columns="collapsed", errors="ignore").assign(low=None, high=None)  # of published results
    assert build_view(name, without)["spec"]["layer"]


def test_a_page_holds_what_its_figures_need_and_no_tag_ends_its_script_early(report):  # noqa: F811
    check_source(report)
    assert set(embedded(report, "views")["views"]) == {"figure02", "figure06"}
    assert "</script" not in load_library().lower() and "<!--" not in load_library()
    assert report.read_text().count("vegaEmbed=") == 1


def test_pictures_keep_every_pixel():
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8))
    png = io.BytesIO()
    image.save(png, format="PNG")
    address, width, height = encode_picture(png.getvalue())
    kept = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))
    assert (width, height) == (30, 20) and kept.tobytes() == image.tobytes()


def test_a_row_says_what_a_subnetwork_keeps_and_how_accurate_it_is():
    components = pd.DataFrame(component_rows((1,)))
    accuracy = accuracies((None, "cn_if", 60.04), (SEEDS[0], "cn_if", 10.0), (SEEDS[1], "cn_if", -0.04))
    groups = accuracy[accuracy["seed"].notna()].assign(group="ood")
    subnetworks = build_subnetworks(components, accuracy, groups)
    first, second = subnetworks.rows[:2]
    assert (first.seed, first.sparsity, first.heads, first.mlps) == (SEEDS[0], "35 %", 1, 1)
    assert [first.accuracies[1], second.accuracies[1], first.accuracies[0]] == ["10.0", "0.0", ""]
    # Two heads and an MLP of layer 0, a gap, the same of layer 1: kept are the second and the last square.
    assert subnetworks.squares_path.count("M") == 6 and first.kept_path == "M1 0h.9v.9h-.9zM5.8 1h.9v.9h-.9z"
    first_layer, second_layer = subnetworks.details["runs"][0]["layers"]
    assert mentions(first_layer, 0, 1) and mentions(second_layer, 1, "MLP")
    assert subnetworks.details["runs"][0]["values"] == [[10.0, 9.0, 11.0]]
    assert subnetworks.details["full"] == {f"1 {LAST}": [[60.0, 59.0, 61.0]]}
    assert subnetworks.choices == {"ft_seed": [1], "step": [LAST], "sparsity": ["35 %", "50 %"]}


def test_without_subnetworks_there_is_no_page_of_them():
    assert build_subnetworks(pd.DataFrame(component_rows(())), accuracies(), accuracies()) is None


def test_the_page_of_a_finished_study_is_small(finished):
    path = finished / "results" / "reduced" / "report.html"
    assert path.stat().st_size < LARGEST and VisibleText(path.read_text()).words <= MOST_WORDS
    page = check_source(path)
    assert set(embedded(path, "views")["views"]) == {"figure02", "figure04", "figure06", "figure10"}
    assert (
        len([a for a in page.all("tr") if "data-run" in a]) == len(embedded(path, "subnetworks-details")["runs"]) == 24
    )


PLAY = """<script>addEventListener("load", async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const root = document.documentElement;
  const found = {width: innerWidth, figures: {}, rows: []};
  const change = (select, value) => { select.value = value; select.dispatchEvent(new Event("input", {bubbles: true}));
    select.dispatchEvent(new Event("change", {bubbles: true})); };
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  await wait(1500);
  for (const place of document.querySelectorAll("[data-view]")) {
    const marks = () => [...place.querySelectorAll("[aria-roledescription=point]")].length;
    const [before, selects] = [marks(), [...place.querySelectorAll("select")]];
    selects.at(-1).focus();
    const focused = document.activeElement === selects.at(-1);
    change(selects.at(-1), "OOD");
    await wait(300);
    const text = place.querySelector("svg text");
    found.figures[place.dataset.view] = {
      before, after: marks(), focused, switches: selects.map((one) => one.name), wide: place.scrollWidth,
      ink: text && getComputedStyle(text).fill,
    };
  }
  found.paper = getComputedStyle(document.body).backgroundColor;
  const point = document.querySelector("#figure02 [aria-roledescription=point]");
  const {left, top, width, height} = point.getBoundingClientRect();
  for (const kind of ["pointerover", "mouseover", "pointermove", "mousemove"]) {
    point.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: left + width / 2, clientY: top + height / 2}));
  }
  await wait(200);
  found.hover = document.getElementById("vg-tooltip-element")?.textContent ?? null;
  const section = document.getElementById("subnetworks");
  const visible = () => [...section.querySelectorAll("tbody tr[data-run]")].filter((row) => !row.hidden);
  found.rows.push(visible().length);
  change(section.querySelector("select[name=step]"), "");
  found.rows.push(visible().length);
  change(section.querySelector("select[name=ft_seed]"), "2");
  found.rows.push(visible().length);
  const heads = [...section.querySelectorAll("thead th")];
  heads.find((head) => head.textContent === "OOD").querySelector("button").click();
  const column = heads.findIndex((head) => head.textContent === "OOD");
  found.sorted = visible().map((row) => Number(row.cells[column].textContent));
  const button = visible()[0].querySelector("button");
  button.focus();
  button.click();
  const dialog = section.querySelector("dialog");
  found.dialog = {
    open: dialog.open, inside: dialog.contains(document.activeElement), name: dialog.querySelector("h3").textContent,
    lines: dialog.querySelectorAll("tbody tr").length, wide: dialog.getBoundingClientRect().width,
  };
  dialog.querySelector("form button").click();
  found.closed = [dialog.open, document.activeElement === button];
  found.needed = root.scrollWidth;
  found.loads = performance.getEntriesByType("resource").map((entry) => entry.name);
  found.faults = faults;
  parent.postMessage(JSON.stringify(found), "*");
});</script>"""


def luminance(colour):
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(("scheme", "dark"), [("0", True), ("1", False)])
def test_a_reader_plays_on_a_phone_in_the_light_and_in_the_dark(finished, tmp_path, scheme, dark):
    path = finished / "results" / "reduced" / "report.html"
    seen = run_in_browser(path, tmp_path, PLAY, 390, f"--blink-settings=preferredColorScheme={scheme}")
    assert seen["faults"] == [] and [name for name in seen["loads"] if not name.startswith("data:")] == []
    assert seen["width"] == 390 and seen["needed"] <= 390
    assert set(seen["figures"]) == {"figure02", "figure04", "figure06", "figure10"}
    for figure in seen["figures"].values():
        assert figure["focused"] and figure["before"] > figure["after"] > 0 and figure["wide"] <= 350
        assert (luminance(figure["ink"]) > luminance(seen["paper"])) == dark
    assert seen["figures"]["figure02"]["switches"] == ["chosen_ft_seed", "chosen_sparsity", "chosen_group"]
    assert "95 % from" in seen["hover"] and "pairs" in seen["hover"]
    assert seen["rows"] == [16, 24, 12] and seen["sorted"] == sorted(seen["sorted"])
    assert seen["dialog"]["open"] and seen["dialog"]["inside"] and mentions(seen["dialog"]["name"], 2)
    assert seen["dialog"]["lines"] == 23 and seen["dialog"]["wide"] <= 390
    assert seen["closed"] == [False, True]
