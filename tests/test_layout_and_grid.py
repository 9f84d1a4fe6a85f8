"""Which subnetworks a study has, and where its results are."""

import copy
import re
from itertools import product

import pytest
import yaml
from conftest import ROOT, STUDY_FILES
from mentions import mentions

from heuristic_core.experiments.subnetworks.config import load_study, parse_study
from heuristic_core.experiments.subnetworks.config.analysis import Counterpart
from heuristic_core.experiments.subnetworks.config.cells import (
    Cell,
    Run,
    closed_blocks,
    curve_cells,
    early_cells,
    entry_cells,
    list_cells,
    repeated_cells,
    run_blocks,
    spread_cells,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.mechanism import CoreFree, Entry, Mechanism
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, missing_requirement
from heuristic_core.figures.targets import target_files
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.schemas import SCHEMAS

FILES = STUDY_FILES
VALUES = yaml.safe_load((ROOT / "config.yaml").read_text())
# Sparsities as the constraint of the workflow's wildcard reads them, and checkpoints of which one is not pruned.
SPARSITY = re.compile(r"0\.\d+")
GRID = {
    "sparsities": [0.2, 0.35, 0.5],
    "mid": 0.35,
    "high": 0.5,
    "seeds": [5, 6, 7],
    "curve_seeds": [9, 5],
    "checkpoints": [10, 40],
    "early": {"checkpoint": 20, "seeds": [6, 8]},
}


def study(**grid):
    values = copy.deepcopy(VALUES) | {"study": "s", "results": "out", "grid": GRID | grid, "mechanism": {}}
    values["finetune"] |= {"steps": 50, "warmup_steps": 0, "checkpoints": [10, 20, 40]}
    values["model"]["name"], values["task"]["name"] = "m", "t"
    return parse_study(values)


def test_spread_is_every_seed_at_both_sparsities_of_the_last_checkpoint():
    assert spread_cells(study()) == [
        (40, 0.35, 5),
        (40, 0.35, 6),
        (40, 0.35, 7),
        (40, 0.5, 5),
        (40, 0.5, 6),
        (40, 0.5, 7),
    ]


def test_surface_is_the_curve_seeds_at_every_sparsity_of_every_checkpoint():
    result = curve_cells(study())
    assert len(result) == 12
    assert set(result) == {Cell(step, s, seed) for step in (10, 40) for s in (0.2, 0.35, 0.5) for seed in (5, 9)}


def test_early_subnetworks_are_at_the_high_sparsity():
    assert early_cells(study()) == [(20, 0.5, 6), (20, 0.5, 8)]
    assert early_cells(study(early=None)) == []


def test_runs_share_a_job_only_with_those_of_the_same_checkpoints():
    """A later seed changes no full block."""

    def blocks(together, **grid):
        base = study(**grid)
        return run_blocks(base.model_copy(update={"prune": base.prune.model_copy(update={"together": together})}))

    curve, last = [(s, seed) for seed in (5, 9) for s in (0.2, 0.35, 0.5)], [(0.35, 6), (0.5, 6), (0.35, 7), (0.5, 7)]
    early = [(0.5, 8)]  # seed 6 is of the early and of the last checkpoint
    assert sorted(blocks(1)) == sorted([run] for run in curve + last + early)
    assert sorted(blocks(9)) == sorted([curve, [(0.35, 6), (0.35, 7), (0.5, 7)], [(0.5, 6)], early])
    assert sorted(blocks(4)) == sorted([curve[:4], curve[4:], [(0.35, 6), (0.35, 7), (0.5, 7)], [(0.5, 6)], early])
    many = {"seeds": list(range(20, 26)), "curve_seeds": [20, 21], "early": None}
    assert blocks(4, **(many | {"seeds": list(range(20, 27))})) == [*blocks(4, **many), [(0.35, 26), (0.5, 26)]]


def test_runs_of_unequal_numbers_of_steps_share_no_job():
    base = study()
    prune = base.prune.model_copy(update={"together": 9, "rise_per_percent": 10})
    blocks = run_blocks(base.model_copy(update={"prune": prune}))
    assert all(len({run.sparsity for run in runs}) == 1 for runs in blocks)
    assert [Run(0.2, 5), Run(0.2, 9)] in blocks


def test_cells_are_all_of_them_once_in_order():
    result = list_cells(study())
    assert result == sorted(set(result))
    assert set(result) == {*spread_cells(study()), *curve_cells(study()), *early_cells(study())}
    assert len(result) == 6 + 12 + 2 - 2  # seed 5 at 0.35 and 0.5 of step 40 is in the spread and in the surface
    assert list_cells(study(seeds=[5, 9], curve_seeds=[5, 9], early=None)) == sorted(curve_cells(study()))


def test_entry_adds_fresh_seeds_at_the_mid_sparsity_and_moves_no_other_block():
    part = Entry(checkpoints=[10, 20], seeds=[91, 92])
    with_entry = with_parts(entry=part)
    assert (
        entry_cells(with_entry) == [(10, 0.35, 91), (10, 0.35, 92), (20, 0.35, 91), (20, 0.35, 92)]
        and entry_cells(study()) == []
    )
    assert set(list_cells(with_entry)) == {*list_cells(study()), *entry_cells(with_entry)}
    assert [runs for runs in run_blocks(with_entry) if runs[0].seed < 91] == run_blocks(study())
    context = Context.from_study(with_entry)
    assert (context.entry, context.entry_seeds, context.parts) == ((10, 20), (91, 92), ("entry",))


def test_runs_with_closed_heads_share_jobs_of_one_kind():
    with_closed = with_parts(core_free=CoreFree(seeds=[1, 2, 3], control_sets=3))
    with_closed = with_closed.model_copy(update={"prune": with_closed.prune.model_copy(update={"together": 2})})
    blocks = [[(0, 1), (0, 2)], [(0, 3)], [(1, 1), (2, 2)], [(3, 3)]]
    assert closed_blocks(with_closed) == blocks and closed_blocks(study()) == []


def with_parts(**parts):
    return study().model_copy(update={"mechanism": Mechanism(**parts)})


def test_a_wider_grid_keeps_the_cells_there_were():
    wider = study(seeds=[5, 6, 7, 1], sparsities=[0.2, 0.35, 0.5, 0.6])
    assert set(list_cells(study())) < set(list_cells(wider))


def test_context_is_what_analysis_needs():
    context = Context.from_study(study())
    assert (context.mid, context.high, context.last) == (0.35, 0.5, 40)
    assert (context.seeds, context.curve_seeds) == ((5, 6, 7), (9, 5))
    assert (context.early, context.early_seeds) == (20, (6, 8))
    assert context.margin == VALUES["analysis"]["margin"] and context.subsets is None
    assert Context.model_validate_json(context.model_dump_json()) == context
    without = Context.from_study(study(early=None))
    assert (without.early, without.early_seeds) == (None, ())


# ---- layout

CELL = {"ft_seed": 1, "step": 40, "sparsity": 0.35, "seed": 5}


def test_results_lie_by_study_model_task_and_run():
    layout = Layout.from_study(study())
    assert layout.root == "out/s"
    assert layout.runs == "out/s/m/t"
    assert layout.data == "out/s/m/t/data"
    assert layout.run.format(**CELL) == "out/s/m/t/ft1"
    assert layout.step.format(**CELL) == "out/s/m/t/ft1/step40"
    assert layout.cell.format(**CELL) == "out/s/m/t/ft1/step40/s0.35/seed5"
    assert layout.table("core") == "out/s/tables/core.parquet"
    assert layout.log("prune/a") == "out/s/logs/prune/a.log"


@pytest.mark.parametrize("config", FILES)
def test_every_cell_has_a_path_of_its_own_that_the_workflow_reads_back(config):
    result = load_study(ROOT / config)
    texts = [f"{cell.sparsity:g}" for cell in list_cells(result)]
    assert all(SPARSITY.fullmatch(text) for text in texts)
    assert [float(text) for text in texts] == [cell.sparsity for cell in list_cells(result)]
    where = Layout.from_study(result).cell
    paths = {
        where.format(ft_seed=1, step=c.step, sparsity=t, seed=c.seed)
        for c, t in zip(list_cells(result), texts, strict=True)
    }
    assert len(paths) == len(texts)


def test_the_workflow_constrains_sparsities_as_here():
    rules = (ROOT / "workflow" / "rules" / "subnetworks" / "common.smk").read_text()
    assert f'sparsity=r"{SPARSITY.pattern}"' in rules


def test_a_cell_with_its_run_is_an_identity():
    assert {*Identity._fields} == {"study", "model", "task", "ft_seed", "repeat", *Cell._fields}


# ---- targets


def test_targets_read_tables_that_exist_and_write_files_of_their_own():
    assert {table for target in TARGETS.values() for table in target.tables} <= set(SCHEMAS)
    written = [path for name in TARGETS for path in target_files("out/s", name)]
    assert len(set(written)) == len(written)
    assert not set(written) & {Layout.from_study(study()).table(name) for name in SCHEMAS}


def test_every_target_has_its_settings_and_they_are_all_used():
    assert set(type(study().figures).model_fields) == set(TARGETS)


def test_outputs_of_a_figure_and_of_a_table():
    assert target_files("out/s", "figure02") == [
        f"out/s/figures/figure02.{kind}" for kind in ("pdf", "svg", "png", "csv")
    ]
    assert target_files("out/s", "table3") == [
        f"out/s/tables/table3.{kind}" for kind in ("parquet", "csv", "md", "tex")
    ]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("figure11", ("qqp", "mnli", "counterpart.task", "figure05")),
        ("figure16", ("gpt2", "bert", "counterpart.model", "figure06")),
        ("table_variance", (1, "grid.repeats", 0)),
        ("figure_lesion", (1, "lesion.control_draws", "config/lesion/overlap.yaml", 0)),
        ("figure09", None),
    ],
)
def test_a_target_that_a_study_cannot_have_says_which_setting_is_missing(name, named):
    reason = missing_requirement(name, Context.from_study(study()))
    assert reason is None if named is None else mentions(reason, name, *named)


def test_every_target_of_the_paper_has_a_name_and_every_study_its_own():
    wanted = {f"figure{n:02}" for n in range(2, 17)} | {f"table{n}" for n in range(3, 9)}
    assert wanted <= set(TARGETS)
    more = {"checkpoints": (1, 2), "repeats": (1,), "lesions": ("overlap",), "pretraining": (0,)}
    more["parts"] = tuple(Mechanism.model_fields)
    more |= {"parts": tuple(Mechanism.model_fields)}
    base = Context.from_study(study()).model_copy(update=more)
    reachable = set()
    for model, task in product(("bert", "roberta", "gpt2"), ("mnli", "qqp")):
        counterpart = Counterpart(model=model, task=task)
        reachable |= {
            n for n in TARGETS if missing_requirement(n, base.model_copy(update={"counterpart": counterpart})) is None
        }
    assert reachable == set(TARGETS)


def test_a_target_names_the_tables_that_a_study_lacks():
    assert mentions(
        missing_requirement("figure09", Context.from_study(study()), tables=["core"]), "figure09", "attention"
    )


def test_repeats_are_cells_of_the_spread():
    assert repeated_cells(study(repeats=[7])) == [(40, 0.35, 7), (40, 0.5, 7)]
    assert repeated_cells(study()) == []


@pytest.mark.parametrize("name", ["mnli-bert", "mnli-roberta", "mnli-gpt2", "qqp-bert"])
def test_the_papers_studies_have_early_subnetworks_that_are_runs_of_effective_size(name):
    """The second checkpoint, before generalisation (figure 10): no run is added."""
    study = load_study(ROOT / "config" / f"paper-{name}.yaml")
    assert study.grid.early.checkpoint == study.grid.checkpoints[1]
    assert set(early_cells(study)) <= set(curve_cells(study)) and len(early_cells(study)) == 3


@pytest.mark.parametrize("name", ["config.yaml", *(f"config/miniature-{name}.yaml" for name in ("full", "tied"))])
def test_early_subnetworks_of_the_miniature_have_seeds_of_their_own(name):
    """Runs of one seed share batches and noise, early and late."""
    grid = load_study(ROOT / name).grid
    assert not set(grid.early.seeds) & {*grid.seeds, *grid.curve_seeds}
