"""A sweep over studies of one file: which studies are on which axis, what the core costs there, and the figure."""

import json

import numpy as np
import pytest
from conftest import ROOT
from matplotlib.colors import to_rgb
from mentions import raises

from heuristic_core.config.figure import Figure
from heuristic_core.config.reading import ConfigError, read_merged_configs
from heuristic_core.experiments.studies import parse_studies, parse_sweep
from heuristic_core.experiments.subnetworks.analysis.sweep import compute_sweep
from heuristic_core.experiments.subnetworks.figures.figure_sweep import LOOKS, draw
from heuristic_core.figures import style
from heuristic_core.stats.frames import make_frame

DOSE = ROOT / "config" / "dose.yaml"
KEY = "task.artefacts.foreign_premises"
STUDIES = {
    "base": {"a": 0.1, "b": 1.0},
    "a0": {"a": 0.0, "b": 1.0},
    "b2": {"a": 0.1, "b": 2.0},
    "both": {"a": 0.0, "b": 2.0},
}


def ablations(core=-60.0, seeds=(1, 2)):
    """Table "ablations" with the full model, a core of two heads that costs `core` points of J, and two controls."""
    run = {"study": "s", "model": "m", "task": "t", "step": 1, "kind": "mean", "group": "j", "n": 100}
    sets = [("none", "none", "", 80.0, 0.0), ("control 1", "control", "0+1", 78.0, -2.0)]
    sets += [("control 2", "control", "0+1", 74.0, -6.0), ("control 3", "control", "2+3", 0.0, -80.0)]
    sets += [("0.1+1.1", "pair", "0+1", 80 + core, core)] if core else []
    rows = [
        run | {"ft_seed": seed, "ablation": name, "role": role, "layers": layers, "accuracy": value, "change": change}
        | {"size": len(layers.split("+")) if layers else 0}
        | ({"change_low": change - 1, "change_high": change + 1} if role == "pair" else {})
        for seed in seeds
        for name, role, layers, value, change in sets
    ]  # fmt: skip
    return make_frame("ablations", rows)


def test_an_axis_has_the_first_study_and_those_that_differ_there_alone():
    rows = compute_sweep([ablations()] * 4, STUDIES)
    on = {axis: set(part["study"]) for axis, part in rows.groupby("axis")}
    assert on == {"a": {"base", "a0"}, "b": {"base", "b2"}}
    assert set(rows.loc[rows["study"] == "b2", "value"]) == {2.0}


def test_the_cost_of_the_core_is_beside_random_sets_of_its_layers():
    rows = compute_sweep([ablations(-60.0), ablations(-10.0)], {"base": {"a": 0.1}, "a0": {"a": 0.0}})
    assert rows.groupby("study")["change"].unique().map(list).to_dict() == {"base": [-60.0], "a0": [-10.0]}
    assert (rows["random"] == -4).all() and (rows["full"] == 80).all()
    assert (rows["low"] == rows["change"] - 1).all() and (rows["core"] == "0.1+1.1").all()


def test_a_core_of_one_head_is_beside_the_other_heads_of_its_layer():
    run = {"study": "s", "model": "m", "task": "t", "step": 1, "kind": "mean", "group": "j", "n": 100, "ft_seed": 1}
    sets = [("none", "none", "", 0, 0.0), ("1.0", "core", "1", 1, -50.0), ("1.1", "non-core", "1", 1, -8.0)]
    sets += [("1.2", "non-core", "1", 1, -4.0), ("0.3", "non-core", "0", 1, -70.0)]
    rows = [
        run | {"ablation": name, "role": role, "layers": layers, "size": size, "accuracy": 80 + change}
        | {"change": change, "change_low": change - 1, "change_high": change + 1}
        for name, role, layers, size, change in sets
    ]  # fmt: skip
    (row,) = compute_sweep([make_frame("ablations", rows)], {"base": {"a": 0.1}}).itertuples()
    assert (row.core, row.change, row.random) == ("1.0", -50, -6)


def test_every_line_has_a_colour_of_its_own():
    assert len({to_rgb(look.colour) for look in LOOKS.values()}) == len(LOOKS)


def test_a_study_without_a_core_has_a_reason():
    rows = compute_sweep([ablations(None)], {"base": {"a": 0.1}})
    assert rows["change"].isna().all() and rows["reason"].notna().all()


@pytest.mark.slow
def test_the_figure_draws_every_known_cost():
    tables = [ablations(-60.0), ablations(None), ablations(-10.0), ablations(-30.0)]
    with style.use_style():
        figure, marks = draw(tables, Figure(), STUDIES)
        figure.draw_without_rendering()
    axes = figure.axes
    assert len(axes) == 2 * 4
    lines = [line.get_xydata() for line in axes[3].lines if line.get_marker() == "o"]
    drawn = [point for line in lines for point in line[~np.isnan(line).any(axis=1)].tolist()]
    assert sorted(drawn) == [[0.1, -60.0]] * 2  # the study without a core has no point
    lines = [line.get_xydata().tolist() for line in axes[7].lines if line.get_marker() == "o"]
    assert lines == [[[1.0, -60.0], [2.0, -10.0]]] * 2  # a line for each fine-tuning seed
    assert len(marks) == 8


def dose():
    import yaml

    return yaml.safe_load(DOSE.read_text())


def test_the_dose_changes_one_setting_at_a_time():
    studies = parse_studies(dose(), DOSE)
    sweep = parse_sweep(dose(), studies, DOSE)
    assert sweep.target == "figure_dose" and sweep.root == "results/dose"
    first, *others = sweep.values.values()
    assert all(sum(other[axis] != first[axis] for axis in first) == 1 for other in others)
    default = read_merged_configs([ROOT / "config.yaml"])
    base = next(iter(studies.values())).settings
    assert {key: base[key] for key in ("model", "task", "prune")} == {
        key: default[key] for key in ("model", "task", "prune")
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"axes": {"x": "task.artefacts.form"}}, ("sweep.axes", "task.artefacts.form", None, "dose")),
        ({"axes": {"x": "task.name"}}, ("sweep.axes", "task.name", "'pairs'", "dose")),
        ({"axes": {}}, ("sweep.axes", "{}")),
        ({"name": "a b"}, ("sweep.name", "'a b'")),
        ({"axis": "x"}, ("sweep.axis", "'x'")),
    ],
)
def test_an_impossible_sweep_is_named(change, named):
    values = dose()
    studies = parse_studies(values, DOSE)
    values["sweep"] |= change
    with raises(ConfigError, *named):
        parse_sweep(values, studies, DOSE)


def test_layers_of_a_study_override_one_another(tmp_path):
    (tmp_path / "own.yaml").write_text(json.dumps({"study": "own", "task": {"artefacts": {"foreign_premises": 0.5}}}))
    result = parse_studies({"studies": [[str(ROOT / "config.yaml"), "own.yaml"]]}, tmp_path / "all.yaml")
    assert result["own_"].settings["task"]["artefacts"]["foreign_premises"] == 0.5
    assert result["own_"].settings["task"]["artefacts"]["added_modifiers"] == 0.65
    with raises(ConfigError, "all.yaml", ROOT / "config.yaml"):
        parse_studies({"studies": [str(ROOT / "config.yaml")] * 2}, tmp_path / "all.yaml")
