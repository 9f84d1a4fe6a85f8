import pandas as pd
import pytest

from heuristic_core.analysis.claims_accuracy import (
    generalises_later,
    high_does_not_generalise,
    mid_agrees_in_domain,
    mid_disagrees_out_of_domain,
    mid_keeps_entailment,
    saturates_before_generalising,
)
from heuristic_core.analysis.claims_heads import (
    core_heads_serve_generalisation,
    core_is_early,
    core_is_super_additive,
    core_serves_generalisation,
    frequencies_correlate,
    id_size_is_flat,
    ood_size_jumps,
    shared_beyond_chance,
)
from heuristic_core.analysis.evidence import CannotSay, Evidence
from heuristic_core.analysis.findings import CLAIMS, findings
from heuristic_core.analysis.frames import frame
from heuristic_core.config.context import Context
from heuristic_core.tables import schema, write_table

RUN = {"study": "s", "model": "m", "task": "t"}
CONTEXT = Context(
    mid=0.3, high=0.5, last=30, seeds=(1, 2), curve_seeds=(1, 2), margin=3.0, subsets=("matched", "swap", "if")
)
SUBSETS = {
    "matched": ("id", None),
    "swap": ("ood", "lexical_overlap"),
    "if": ("ood", "constituent"),
    "overlap": ("ood-entailment", "lexical_overlap"),
    "sequence": ("ood-entailment", "subsequence"),
}


def cell(values, **identity):
    for name, value in zip(SUBSETS, values, strict=True):
        group, family = SUBSETS[name]
        yield RUN | identity | {"subset": name, "group": group, "family": family, "n": 100, "accuracy": value}


def entailment(ablation, cost):
    """Rows of table "ablations" for the entailment class; only the family of "overlap" has an OOD subset."""
    for subset, change in (("overlap", -cost), ("sequence", -90.0)):
        yield ablation | {"group": "ood-entailment", "subset": subset, "change": change}


def single(name, role, id_, ood, of_entailment):
    """Rows of table "ablations" for one head, from the points it costs."""
    ablation = {"ablation": name, "role": role, "size": 1}
    yield from (ablation | {"group": group, "change": -cost} for group, cost in (("id", id_), ("ood", ood)))
    yield from entailment(ablation, of_entailment)


def study(ft_seed=1):
    """Tables that show every claim. No OOD subset is of family "subsequence": its accuracies of 0 do not count."""
    at = {"ft_seed": ft_seed}
    finetune = [
        row
        for step, values in {
            10: (80.0, 0.0, 2.0, 99.0, 0.0),
            20: (99.0, 1.0, 3.0, 98.0, 0.0),
            30: (100.0, 70.0, 60.0, 100.0, 0.0),
        }.items()
        for row in cell(values, step=step, **at)
    ]
    accuracy = [
        row
        for (sparsity, seed), values in {
            (0.0, None): (100.0, 70.0, 60.0, 100.0, 0.0),
            (0.3, 1): (99.0, 10.0, 20.0, 95.0, 0.0),
            (0.3, 2): (97.0, 40.0, 30.0, 91.0, 0.0),
            (0.5, 1): (95.0, 1.0, 3.0, 100.0, 0.0),
            (0.5, 2): (92.0, 0.0, 18.0, 98.0, 0.0),
        }.items()
        for row in cell(values, step=30, sparsity=sparsity, seed=seed, **at)
    ]
    core = [
        {"name": name, "kind": "head", "mid": 2, "high": high, "early": early, "in_core": high == 2} | RUN | at
        for name, high, early in (("0.0", 2, 2), ("0.1", 2, 2), ("1.0", 2, 1), ("1.1", 0, 0))
    ]
    core_null = [
        {"set": name, "n": n, "observed": observed, "expected": 0.25, "p": 0.01, "permutations": 99} | RUN | at
        for name, n, observed in (("high", 2, 3), ("mid", 2, 4), ("mid+high", 4, 3), ("early", 2, 2))
    ]
    sizes = [
        {"step": step, "group": group, "order": order, "margin": 3.0, "full_accuracy": full, "effective_size": size}
        | {"floor": 40.0}
        | RUN
        | at
        for order in ("per-seed", "mean-first")
        for step, group, full, size in (
            (10, "id", 80.0, 40.0),
            (20, "id", 99.0, 55.0),
            (30, "id", 100.0, 40.0),
            (10, "ood", 1.0, None),
            (20, "ood", 2.0, None),
            (30, "ood", 65.0, 90.0),
        )
    ]
    strongest = {"ablation": "0.0+0.1+1.0", "role": "strongest", "size": 3}
    ablated = [
        strongest | {"group": "id", "change": -2.0, "interaction": 1.0},
        strongest | {"group": "ood", "change": -40.0, "interaction": 10.0},
        strongest | {"group": "ood", "subset": "swap", "change": -60.0, "interaction": 25.0},
        strongest | {"group": "ood", "subset": "if", "change": -20.0, "interaction": -5.0},
        *entailment(strongest, 1.5),
        *single("0.0", "core", 1.0, 20.0, 0.5),
        *single("1.0", "core", 0.0, 5.0, -0.2),
        *single("0.1", "core", 2.0, 8.0, 0.0),
        *single("0.2", "non-core", 0.0, 2.0, 0.0),
        *single("0.3", "non-core", 0.0, 6.0, 0.0),
        *single("1.1", "non-core", 0.0, 3.0, 0.0),
        *(
            {"ablation": f"control {k}", "role": "control", "matches": "0.0+0.1+1.0", "group": "ood", "change": change}
            for k, change in ((1, -6.0), (2, -2.0))
        ),
    ]
    rows = {
        "accuracy": accuracy,
        "finetune_accuracy": finetune,
        "core": core,
        "core_null": core_null,
        "rank_correlation": [{"step": 30, "rho": 0.9, "p": 0.001, "n": 4} | RUN | at],
        "effective_size": sizes,
        "ablations": [{"step": 30} | row | RUN | at for row in ablated],
    }
    return {name: frame(name, of) for name, of in rows.items()}


@pytest.fixture(scope="module")
def built():
    return study()


@pytest.fixture
def tables(built):
    """A study that shows every claim, to alter."""
    return {name: table.copy() for name, table in built.items()}


def judged(tables, judge):
    """Verdict (None where it cannot be said) and estimate."""
    try:
        return tuple(judge(Evidence(CONTEXT, **tables)))
    except CannotSay as reason:
        return None, str(reason)


def test_every_claim_can_be_shown(tmp_path):
    first, second = study(1), study(2)
    result = findings(CONTEXT, **{name: pd.concat([first[name], second[name]]) for name in first})
    assert list(result.columns) == schema("findings").names
    write_table("findings", result, tmp_path / "findings.parquet")
    assert result["shown"].tolist() == [True] * 2 * len(CLAIMS), result[["claim", "estimate"]].to_string()
    assert result["ft_seed"].tolist() == [1] * len(CLAIMS) + [2] * len(CLAIMS)


ESTIMATES = {
    saturates_before_generalising: "ID 99.0 %, OOD 2.0 % and entailment class 98.0 % at step 20; "
    "ID and OOD are so in 1 of 3 evaluations",
    generalises_later: "OOD below 5 % at step 10, highest 65.0 % at step 30, last 65.0 % at step 30; "
    "at these steps entailment class 99.0 %, 100.0 %, 100.0 %",
    mid_agrees_in_domain: "ID 97.0 to 99.0 %: 2.0 points, over 2 subnetworks",
    mid_disagrees_out_of_domain: "widest on swap: 10.0 to 40.0 %, 30.0 points; mean over OOD subsets 15.0 to 35.0 %, "
    "entailment class 91.0 to 95.0 %",
    mid_keeps_entailment: "entailment class of the OOD families 91.0 to 95.0 %, full model 100.0 %",
    high_does_not_generalise: "OOD 2.0 to 9.0 %, ID 92.0 to 95.0 % (full model 100.0 %), "
    "entailment class 98.0 to 100.0 %",
    shared_beyond_chance: "3 heads in all 2 high subnetworks, 0.25 expected (p = 0.01); "
    "3 heads in all 4 mid+high subnetworks, 0.25 expected (p = 0.01)",
    core_is_early: "2 of 3 core heads in every early subnetwork; "
    "2 heads in all 2 early subnetworks, 0.25 expected (p = 0.01)",
    frequencies_correlate: "Spearman's rho 0.90 (p = 0.001) over 4 heads",
    id_size_is_flat: "range 15.0 points; ID by step: 10 40.0, 20 55.0, 30 40.0 (2 at the floor of the grid, 40 %)",
    ood_size_jumps: "undefined at 2 checkpoints before step 30, where it is 90.0 %; "
    "OOD by step: 10 undefined, 20 undefined, 30 90.0; "
    "ID: 10 40.0, 20 55.0, 30 40.0 (2 at the floor of the grid, 40 %)",
    core_serves_generalisation: "ablating 0.0+0.1+1.0 costs 40.0 points OOD and 2.0 ID (entailment class 1.5); "
    "2 matched controls cost 4.0 OOD on average, 6.0 at most",
    core_heads_serve_generalisation: "2 of 3 core heads cost over 3 points OOD more than others of their layers "
    "on average: "
    "0.0 costs 20.0 points OOD and 1.0 ID (entailment class 0.5), others of its layer 4.0 OOD on average, 6.0 at most; "
    "1.0 costs 5.0 points OOD and 0.0 ID (entailment class -0.2), others of its layer 3.0 OOD on average, 3.0 at most; "
    "0.1 costs 8.0 points OOD and 2.0 ID (entailment class 0.0), others of its layer 4.0 OOD on average, 6.0 at most",
    core_is_super_additive: "0.0+0.1+1.0 costs 40.0 points OOD (entailment class 1.5), "
    "its heads one by one 30.0 in sum: interaction +10.0, from -5.0 (if) to +25.0 (swap)",
}


@pytest.mark.parametrize("judge", [judge for _, judge in CLAIMS])
def test_estimates_hold_the_numbers(judge, tables):
    assert judged(tables, judge) == (True, ESTIMATES[judge])


def change(table, where, column, value):
    """One altered cell, or some, of a study; `where` in the language of DataFrame.query."""

    def altered(tables):
        rows = tables[table].query(where, engine="python").index
        assert len(rows)
        tables[table].loc[rows, column] = value
        return tables

    return altered


NOT_SHOWN = [
    (saturates_before_generalising, change("finetune_accuracy", "step == 20 and subset == 'if'", "accuracy", 9.0)),
    (generalises_later, change("finetune_accuracy", "step == 30 and group == 'ood'", "accuracy", 50.0)),
    (mid_agrees_in_domain, change("accuracy", "sparsity == 0.3 and seed == 2 and group == 'id'", "accuracy", 95.9)),
    (mid_disagrees_out_of_domain, change("accuracy", "seed == 2 and subset == 'swap'", "accuracy", 29.0)),
    (mid_keeps_entailment, change("accuracy", "sparsity == 0.3 and subset == 'overlap'", "accuracy", 89.0)),
    (high_does_not_generalise, change("accuracy", "sparsity == 0.5 and subset == 'if'", "accuracy", 20.0)),
    (high_does_not_generalise, change("accuracy", "sparsity == 0.5 and group == 'id'", "accuracy", 90.0)),
    (shared_beyond_chance, change("core_null", "set == 'mid+high'", "p", 0.05)),
    (core_is_early, change("core", "name == '0.1'", "early", 1)),
    (core_is_early, change("core_null", "set == 'early'", "p", 0.5)),
    (frequencies_correlate, change("rank_correlation", "n == 4", "rho", -0.9)),
    (frequencies_correlate, change("rank_correlation", "n == 4", "p", 0.05)),
    (id_size_is_flat, change("effective_size", "group == 'id' and step == 10", "effective_size", 60.5)),
    (ood_size_jumps, change("effective_size", "group == 'ood' and step == 30", "effective_size", 40.0)),
    (ood_size_jumps, change("effective_size", "group == 'ood' and step < 30", "effective_size", 90.0)),
    (ood_size_jumps, change("effective_size", "group == 'ood' and step < 30", "full_accuracy", 50.0)),
    (core_serves_generalisation, change("ablations", "role == 'strongest' and group == 'id'", "change", -41.0)),
    (core_serves_generalisation, change("ablations", "ablation == 'control 1'", "change", -40.0)),
    (core_heads_serve_generalisation, change("ablations", "ablation == '0.1' and group == 'ood'", "change", -7.0)),
    (core_heads_serve_generalisation, change("ablations", "ablation == '0.3' and group == 'ood'", "change", -9.0)),
    (core_is_super_additive, change("ablations", "role == 'strongest' and subset.isna()", "interaction", 3.0)),
]


@pytest.mark.parametrize(("judge", "altered"), NOT_SHOWN)
def test_claims_that_are_not_shown(judge, altered, tables):
    assert judged(altered(tables), judge)[0] is False


def test_no_effect_of_ablation_is_not_shown_even_if_controls_help(tables):
    tables = change("ablations", "subset.isna() and group == 'ood'", "change", -1.0)(tables)
    tables = change("ablations", "role == 'control'", "change", 5.0)(tables)
    tables = change("ablations", "subset.isna() and group == 'id'", "change", 0.0)(tables)
    assert judged(tables, core_serves_generalisation)[0] is False


def drop(table, where="index >= 0"):
    """A study without some rows."""

    def altered(tables):
        rows = tables[table].query(where, engine="python").index
        assert len(rows)
        return tables | {table: tables[table].drop(rows)}

    return altered


UNSAID = [
    (saturates_before_generalising, drop("finetune_accuracy"), "no evaluation of the full model over fine-tuning"),
    (
        generalises_later,
        change("finetune_accuracy", "subset == 'swap'", "accuracy", 20.0),
        "OOD was never below 5 %: lowest 11.0 %",
    ),
    (
        mid_agrees_in_domain,
        drop("accuracy", "sparsity == 0.3 and seed == 1"),
        "only 1 of 2 subnetworks at sparsity 0.3",
    ),
    (
        mid_disagrees_out_of_domain,
        change("accuracy", "sparsity == 0.3 and subset == 'if'", "accuracy", None),
        "missing values: ood evaluation at sparsity 0.3",
    ),
    (
        mid_keeps_entailment,
        drop("accuracy", "group == 'ood-entailment'"),
        "no ood-entailment evaluation at sparsity 0.3",
    ),
    (high_does_not_generalise, drop("accuracy", "sparsity == 0"), "no id evaluation of the full model"),
    (shared_beyond_chance, drop("core_null", "set == 'high'"), "no comparison of high subnetworks with chance"),
    (core_is_early, drop("core_null", "set == 'early'"), "no comparison of early subnetworks with chance"),
    (core_is_early, change("core", "mid == 2", "in_core", False), "the core is empty"),
    (
        frequencies_correlate,
        change("rank_correlation", "n == 4", "rho", None),
        "no rank correlation: one sparsity is absent, or keeps all heads equally often",
    ),
    (
        id_size_is_flat,
        change("effective_size", "group == 'id' and step < 30", "effective_size", None),
        "effective size is defined at 1 checkpoints only: 10 missing, 20 missing, 30 40.0 "
        "(1 at the floor of the grid, 40 %)",
    ),
    (
        ood_size_jumps,
        change("effective_size", "group == 'ood' and step == 30", "effective_size", None),
        "not defined at the last checkpoint; OOD by step: 10 undefined, 20 undefined, 30 missing; "
        "ID: 10 40.0, 20 55.0, 30 40.0 (2 at the floor of the grid, 40 %)",
    ),
    (
        core_serves_generalisation,
        drop("ablations", "role in ['strongest', 'pair', 'core']"),
        "no core head was ablated",
    ),
    (
        core_serves_generalisation,
        drop("ablations", "role == 'control'"),
        "0.0+0.1+1.0 has no controls: too few heads outside the core in its layers",
    ),
    (core_heads_serve_generalisation, drop("ablations", "role == 'core'"), "no core head was ablated"),
    (
        core_heads_serve_generalisation,
        drop("ablations", "role == 'non-core'"),
        "every head in the layers of the core is in the core",
    ),
    (
        core_heads_serve_generalisation,
        drop("ablations", "ablation == '1.1' and group == 'id'"),
        "missing values: ablations of single heads",
    ),
    (
        core_is_super_additive,
        change("ablations", "role == 'strongest'", "interaction", None),
        "single ablations of 0.0+0.1+1.0 are missing",
    ),
]


@pytest.mark.parametrize(("judge", "altered", "reason"), UNSAID)
def test_claims_that_cannot_be_judged_say_why(judge, altered, reason, tables):
    assert judged(altered(tables), judge) == (None, reason)


def test_findings_keep_the_reason_of_an_open_claim(tables):
    result = findings(CONTEXT, **drop("core_null")(tables)).set_index("claim")
    text = next(text for text, judge in CLAIMS if judge is shared_beyond_chance)
    assert pd.isna(result.loc[text, "shown"])
    assert result.loc[text, "estimate"] == "no comparison of high subnetworks with chance"
    assert result["shown"].notna().sum() == len(CLAIMS) - 2


AT_STEPS = "no ood-entailment evaluation of the full model over fine-tuning"
OF_ABLATION = "no ood-entailment evaluation of ablation 0.0+0.1+1.0"


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (saturates_before_generalising, AT_STEPS),
        (generalises_later, AT_STEPS),
        (mid_disagrees_out_of_domain, "no ood-entailment evaluation at sparsity 0.3"),
        (high_does_not_generalise, "no ood-entailment evaluation at sparsity 0.5"),
        (core_serves_generalisation, OF_ABLATION),
        (core_heads_serve_generalisation, "no ood-entailment evaluation of ablation 1.0"),
        (core_is_super_additive, OF_ABLATION),
    ],
)
def test_entailment_may_be_unknown_where_out_of_domain_is_not(judge, reason, tables):
    for table in ("accuracy", "finetune_accuracy", "ablations"):
        tables = drop(table, "group == 'ood-entailment'")(tables)
    shown, estimate = judged(tables, judge)
    assert shown is True
    assert f"entailment class unknown ({reason})" in estimate


def test_entailment_stands_beside_the_lowest_ood_of_a_saturated_model(tables):
    altered = change("finetune_accuracy", "step == 20 and group == 'ood'", "accuracy", 9.0)(tables)
    assert judged(altered, saturates_before_generalising) == (
        False,
        "best ID 100.0 %; wherever ID has saturated, OOD is 9.0 % or more; "
        "at step 20, where it is lowest, entailment class 98.0 %",
    )


def test_a_core_head_without_others_in_its_layer_is_not_compared(tables):
    altered = drop("ablations", "ablation == '1.1'")(tables)
    shown, estimate = judged(altered, core_heads_serve_generalisation)
    assert shown is True
    assert estimate.startswith("2 of 2 core heads cost")
    assert "; 1.0 costs 5.0 points OOD and 0.0 ID (entailment class -0.2), its layer has no others; " in estimate


def test_a_core_of_two_is_judged_by_its_pair(tables):
    tables["ablations"] = tables["ablations"].replace({"role": {"strongest": "pair"}})
    assert judged(tables, core_serves_generalisation)[0] is True
