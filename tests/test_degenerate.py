"""Claims on models that say nothing: collapsed, failed, off their target, at chance, or not generalising."""

from functools import partial

import pandas as pd
import pytest
from claim_tables import CONTEXT, JOINT, RUN, ablation, actual, core_rows, evidence, group_row, table
from conftest import CLAIMS
from mentions import mentions, raises
from test_size_statistics import CMD, SIZES, cmd_rows, size_rows

from heuristic_core.config.claims import load_claims
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis import (
    statistics_accuracy,
    statistics_preconditions,
    statistics_single_heads,
    statistics_sparsity,
    statistics_spread,
)
from heuristic_core.experiments.subnetworks.analysis.claims import judge_claims
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.outcomes import FaultyCell, find_faulty_cells, mark_faults
from heuristic_core.experiments.subnetworks.figures import build_sheets, draw
from heuristic_core.experiments.subnetworks.figures.table_core import SET_HEADINGS
from heuristic_core.stats.estimates import FailedRuns, NotComputable
from heuristic_core.stats.verdicts import decide_verdict

CHANCE = 33.3
OF_FULL_MODEL = {"generalises"}  # with these tables; it rests on no pruning run


def run_rows(count=None, steps=(10, 20, 30), sparsities=(0.1, 0.3, 0.5), seeds=(1, 2, 3, 4), **fault):
    """Table "runs" of CONTEXT. fault: columns of the first `count` seeds' runs (None: of all)."""
    well = {"actual_sparsity": 0.5, "chance": CHANCE, "collapsed": False, "missed": False}
    return [
        well | {"step": step, "sparsity": s, "seed": seed, "repeat": 0} | (fault if seed <= (count or 99) else {})
        for step in steps
        for s in sparsities
        for seed in seeds
    ]


def full_rows(id_=90.0, ood=60.0, **more):
    """The full model's group accuracies, with intervals of three points to each side."""
    for group, value in {"id": id_, "ood": ood, "ood-entailment": 95.0, **more}.items():
        yield group_row(value, group, 0.0, None, low=value - 3, high=value + 3, n=900, unit="example", units=900)


def constant_class():
    """Tables of a study all of whose subnetworks give one class: every statistic of them looks well."""
    levels = {"id": CHANCE, "ood": 99.0, "ood-entailment": 1.0, "j": 0.0}
    pruned = [
        group_row(value + 0.3 * seed + (s == 0.1), group, s, seed)
        for group, value in levels.items()
        for s in (0.1, 0.3, 0.5)
        for seed in (1, 2, 3, 4)
    ]
    repeated = {"step": 30, "sparsity": 0.3, "group": "ood", "between_sd": 6.0, "seeds": 12, "repeated": 3}
    rho = {"step": 30, "rho": 0.9, "low": 0.8, "high": 0.95, "n": 8}
    shares = [
        {"step": 30, "component": c, "category": "repeated", "share": 0.9 if c in (0, 4) else 0.01 * c}
        for c in range(16)
    ]
    cost = {"interaction": 5.0, "interaction_low": 4.0, "interaction_high": 6.0}
    cost |= {f"log_odds_{name}": value for name, value in cost.items()}
    joint = [
        row | ({"accuracy": 20.0 if row["group"] == "ood" else 80.0} | cost if row["role"] == "strongest" else {})
        for row in JOINT
    ]
    joint += [
        row | {"role": prefix + role, "group": group, "change": change, "accuracy": level + change}
        for role in ("stable-core", "all-but-core", "all-but-stable-core", "all-heads")
        for prefix, changes in (("", [-9.0 if role == "stable-core" else 9.0]), ("control-", [0.0] * 40))
        for change in changes
        for group, level in (("id", CHANCE), ("j", 0.0))
        for row in ablation(role, role, 2, {None: (group, 0.0)})
    ]
    stable = {"seeds": 4, "least": 3, "observed": 3, "expected": 0.2, "permutations": 999}
    core = core_rows({0, 4}, {0, 4}, size=8)
    rows = {
        "group_accuracy": [*full_rows(j=55.0), *pruned],
        "accuracy": [row | {"subset": row["group"]} for row in pruned],
        "components": actual(0.29, 0.28, 0.27, 0.26),
        "variance": [repeated | {"within_sd": 0.1}],
        "core": [row | {"in_stable_core": row["component"] in (0, 4, 9)} for row in core],
        "stable_core": [stable | {"p": 0.01, "p_fewer": 1.0}],
        "core_null": [{"set": "mid+high", "n": 8, "observed": 3, "expected": 0.5, "p": 0.01, "p_fewer": 1.0}],
        "rank_correlation": [rho | {"seeds": seeds} for seeds in ("shared", "disjoint")],
        "effective_size": size_rows(**SIZES),
        "circuit_performance": list(cmd_rows(**CMD)),
        "ablations": joint,
        "attention": shares,
        "overlap_heads": [
            {"component": row["component"], "layer": row["layer"], "overlap": row["component"] in (0, 4)}
            for row in core_rows({0, 4}, {0, 4}, size=8)
        ],
    }  # fmt: skip
    return {name: table(name, of_table) for name, of_table in rows.items()}


def supported(tables):
    context = CONTEXT.model_copy(update={"checkpoints": (10, 20, 30)})
    result = judge_claims(context, tables, load_claims(CLAIMS))
    return result[result["ft_seed"].isna()].set_index("claim")[["verdict", "detail"]]


def mask_rows(distinct):
    """Table "components": one component is kept, the same one by all pruning seeds, or another one by the last seed."""
    return [
        {"step": step, "sparsity": sparsity, "seed": seed, "repeat": 0, "component": c}
        | {"kept": c == int(distinct and seed == 4)}
        for step in (10, 20, 30)
        for sparsity in (0.1, 0.3, 0.5)
        for seed in (1, 2, 3, 4)
        for c in range(4)
    ]


@pytest.mark.parametrize(
    ("runs", "distinct", "verdict_name", "reason"),
    [
        (run_rows(collapsed=True), True, "failed runs", "4 collapsed"),
        (run_rows(2, collapsed=True), True, "failed runs", "2 collapsed"),
        (run_rows(2, missed=True), True, "failed runs", "2 missed"),
        (run_rows(), False, "too few", "4 pruning seeds"),
    ],
)
def test_a_degenerate_study_earns_no_supported_verdict(runs, distinct, verdict_name, reason):
    """Runs collapsed or missed their target, all or half of them; or all seeds gave one subnetwork."""
    tables = constant_class()
    rest = tables["components"].drop_duplicates(["sparsity", "seed"])
    masks = pd.concat([rest, table("components", mask_rows(True))])
    blind = supported(tables | {"runs": table("runs", run_rows()), "components": masks})
    assert (blind["verdict"] == "supported").sum() > 4
    of_masks = ["stable-core-is-special", "core-suffices-in-domain", "stable-heads", "share-heads"]
    of_masks += ["stable-core-suffices-in-domain"]
    assert (blind.loc[of_masks, "verdict"] == "supported").all()
    seen = supported(tables | {"runs": table("runs", runs), "components": table("components", mask_rows(distinct))})
    assert set(seen.index[seen["verdict"] == "supported"]) == OF_FULL_MODEL
    assert not set(seen["verdict"]) & {"contradicted"}
    assert seen.loc["keep-mlps", "verdict"] == verdict_name
    assert mentions(seen.loc["keep-mlps", "detail"], 4, "step 30", "sparsity 0.3", reason)


@pytest.mark.parametrize(
    ("runs", "full", "reason"),
    [
        (run_rows(3, collapsed=True), {}, (4, "step 30", "sparsity 0.3", "3 collapsed", 1)),
        (run_rows(), {"id_": CHANCE}, ("full model", f"{CHANCE:.1f} %")),
        (run_rows(), {}, None),
        ([], {}, None),
    ],
)
def test_heads_that_such_subnetworks_share_are_shown_without_p(runs, full, reason):
    shared = {"set": "mid+high", "n": 8, "seeds": 4, "observed": 3, "expected": 0.5, "p": 0.01, "permutations": 999}
    rows = {"runs": runs, "group_accuracy": full_rows(**full), "core_null": [shared]}
    tables = {name: table(name, of_table) for name, of_table in rows.items()}
    _, marks = draw("table_core", tables, Figure(), CONTEXT)
    (sheet,) = build_sheets("table_core", marks)
    (row,) = sheet.rows
    p, *why = row[SET_HEADINGS.index("p") :]
    if reason is None:
        assert p == "0.0100" and not why and marks["p"].tolist() == [0.01]
    else:
        assert p == "" and mentions(*why, *reason) and marks["p"].isna().all()


def test_runs_that_went_wrong_are_left_out():
    """Fewer than half of a cell may be faulty; the others are judged."""
    rows = [*full_rows(), *(group_row(80.0 + seed, "id", 0.3, seed) for seed in (1, 2, 3, 4))]
    result = evidence(runs=run_rows(1, missed=True), group_accuracy=rows)
    assert result.spread("group_accuracy", "id", "mid")["accuracy"].tolist() == [82, 83, 84]
    with raises(FailedRuns, "2 missed"):
        evidence(runs=run_rows(2, missed=True), group_accuracy=rows).spread("group_accuracy", "id", "mid")


def test_a_study_without_an_entailment_class_has_no_j_and_nothing_stands_for_it():
    """Of merged labels a guess has 50 % OOD, and a model that rejects every pair has 100 %."""
    full = full_rows(ood=50.0)
    without = evidence(runs=run_rows(), group_accuracy=[row for row in full if row["group"] != "ood-entailment"])
    assert statistics_accuracy.full_accuracy(without, group="ood").value == 50
    for statistic in (statistics_preconditions.generalisation, partial(statistics_accuracy.full_accuracy, group="j")):
        with raises(NotComputable, "ood-entailment", "J"):
            statistic(without)


def test_a_spread_of_zero_is_no_agreement(monkeypatch):
    """Identical subnetworks may be so by chance, and collapsed ones are not judged."""
    same = [group_row(CHANCE, "id", 0.3, seed) for seed in (1, 2, 3, 4)]
    rows = {"group_accuracy": [*full_rows(), *same]}
    monkeypatch.setattr(statistics_spread, "MIN_FOR_DIFFERENCE", 4)
    result = statistics_spread.seed_difference(evidence(**rows), group="id", sparsity="mid")
    assert result.value == 0 and decide_verdict(result, "< 1.4 points") == "too few"
    with raises(FailedRuns, 4, "step 30", "sparsity 0.3", "4 collapsed"):
        statistics_spread.seed_difference(evidence(**rows, runs=run_rows(collapsed=True)), group="id", sparsity="mid")


@pytest.mark.parametrize(
    ("fault", "outcomes"),
    [
        ({"collapsed": True}, {"collapsed"}),
        ({"missed": True}, {"missed"}),
        ({"actual_sparsity": None, "collapsed": None, "missed": None}, {"failed"}),
        ({"missed": True, "collapsed": True}, {"collapsed", "missed"}),
    ],
)
def test_half_of_a_cell_makes_it_unsound(fault, outcomes):
    full = list(full_rows())
    evidence(runs=run_rows(1, **fault), group_accuracy=full).require_sound("mid", "high")
    with raises(NotComputable, 4, "step 30", "sparsity 0.3") as raised:
        evidence(runs=run_rows(2, **fault), group_accuracy=full).require_sound("mid")
    assert {name for name in ("failed", "collapsed", "missed") if mentions(str(raised.value), f"2 {name}")} == outcomes
    with raises(NotComputable, "step 10", "sparsity 0.5", 1):  # the early checkpoint has two seeds
        evidence(runs=run_rows(1, steps=(10,), **fault), group_accuracy=full).require_sound("mid", "early")
    with raises(NotComputable, "sparsity 0.1", 1, 2):
        evidence(runs=run_rows(1, **fault), group_accuracy=full).require_sound("curve")


def test_without_a_table_of_runs_nothing_is_refused():
    evidence().require_sound("mid", "high", "early", "curve", "sizes")


def test_subnetworks_of_a_full_model_at_chance_say_nothing():
    with raises(NotComputable, 35.0, 33.3):
        evidence(runs=run_rows(), group_accuracy=full_rows(id_=35.0)).require_sound("mid")


def test_cells_with_faults_are_counted():
    rows = table("runs", [*run_rows(3, steps=(30,), sparsities=(0.3,), collapsed=True),
                          *run_rows(1, steps=(30,), sparsities=(0.5,), missed=True),
                          *run_rows(steps=(30,), sparsities=(0.1,))])  # fmt: skip
    failed, collapsed, missed = mark_faults(rows).columns
    counts = {failed: 0, collapsed: 0, missed: 0}
    ft_seed = RUN["ft_seed"]
    assert find_faulty_cells(rows) == [
        FaultyCell(ft_seed, 30, 0.3, 4, counts | {collapsed: 3}, True),
        FaultyCell(ft_seed, 30, 0.5, 4, counts | {missed: 1}, False),
    ]


def test_a_constant_full_model_has_no_verdicts_of_its_own():
    """It is right out-of-domain, and has learned nothing."""
    result = evidence(runs=run_rows(), group_accuracy=full_rows(id_=35.0), ablations=[])
    for statistic, options in (
        (statistics_accuracy.full_accuracy, {"group": "ood"}),
        (statistics_accuracy.ood_at_saturation, {"share": 0.95}),
        (statistics_single_heads.largest_single_cost, {"group": "id"}),
    ):
        with raises(NotComputable, 35.0, 33.3):
            statistic(result, **options)


def test_a_collapsed_subnetwork_does_not_generalise():
    """It is right on all that contradicts the class it always gives."""
    seeds = (1, 2, 3)
    rows = [*full_rows(), *(group_row(100.0, group="ood", sparsity=0.5, seed=seed) for seed in seeds)]
    cells = {"steps": (30,), "sparsities": (0.5,), "seeds": seeds}
    result = evidence(runs=run_rows(1, **cells, collapsed=True), group_accuracy=rows)
    context = result.context.model_copy(update={"curve_seeds": seeds})
    result = statistics_sparsity.as_good_beyond(Evidence(context, result.tables), group="ood", sparsity=0.3)
    assert (result.value, result.n) == (2, 2)


@pytest.mark.parametrize(("id_", "keeps"), [(42.0, False), (88.0, True)])
def test_subnetworks_that_lost_the_task_support_nothing(id_, keeps):
    """Twelve of a sparsity give nearly one class everywhere: 42 % in-domain is above chance, and far from the model."""
    levels = {"id": (id_, 90.0), "ood": (97.0, 60.0), "ood-entailment": (3.0, 95.0), "j": (0.0, 55.0)}
    seeds = tuple(range(1, 13))

    def pruned(value, full, **more):
        return {"accuracy": value, "low": value - 1, "high": value + 1, "unit": "example", "units": 900} | {
            "change": value - full, "change_low": value - full - 1, "change_high": value - full + 1
        } | more  # fmt: skip

    rows = [
        group_row(0.0, group, sparsity, seed) | pruned(value + 0.02 * seed, full)
        for group, (value, full) in levels.items()
        for sparsity in (0.3, 0.5)
        for seed in seeds
    ]
    families = [
        group_row(0.0, group, 0.3, seed) | pruned(20.0 * (-1) ** (seed + k), 55.0, family=family)
        for group in ("j", "auc")
        for k, family in enumerate("ab")
        for seed in seeds
    ]
    runs = [row | {"actual_sparsity": row["sparsity"]} for row in run_rows(seeds=seeds)]
    tables = {"group_accuracy": [*full_rows(j=55.0), *rows], "family_scores": families, "runs": runs}
    tables = {name: table(name, of_table) for name, of_table in tables.items()}
    claims = judge_claims(CONTEXT.model_copy(update={"seeds": seeds}), tables, load_claims(CLAIMS))
    verdicts = claims[claims["ft_seed"].isna()].set_index("claim")["verdict"]
    concerned = [
        "agree-in-domain", "different-families",
        "high-sparsity-loses-generalisation", "no-sparse-subnetwork-generalises",
    ]  # fmt: skip
    assert set(verdicts[concerned]) == ({"supported"} if keeps else {"does not apply"})
    assert set(verdicts[verdicts == "supported"].index) - set(concerned) == OF_FULL_MODEL | (
        {"high-sparsity-keeps-the-task", "near-the-full-model"} if keeps else set()
    )
