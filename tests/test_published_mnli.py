"""The authors' MNLI results: their own numbers from their own files."""

import numpy as np
import pytest
from conftest import CLAIMS
from mentions import mentions
from published_files import FOLDER, context, import_study, sizes

from heuristic_core.config.claims import load_claims
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_group_accuracy
from heuristic_core.experiments.subnetworks.analysis.claims import judge_claims
from heuristic_core.experiments.subnetworks.analysis.core import expected_over_all_heads
from heuristic_core.experiments.subnetworks.analysis.effective_size import compute_effective_size
from heuristic_core.experiments.subnetworks.analysis.size_states import classify_sizes
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.figures import build_sheets, draw

of_mnli = pytest.mark.skipif(
    not (FOLDER / "mnli-sp50.json").is_file(), reason=f"the authors' MNLI files are not at {FOLDER}"
)


@pytest.fixture(scope="module")
def mnli(tmp_path_factory):
    return import_study(FOLDER, tmp_path_factory.mktemp("mnli"), "mnli")


# subset -> full model; min, max, mean and standard deviation at 50 %; the same at 70 %
SPREAD = {
    "mnli_matched": (83.34, (80.08, 81.94, 81.27, 0.53), (74.11, 76.21, 75.38, 0.74)),
    "mnli_mismatched": (84.21, (80.94, 81.97, 81.40, 0.32), (74.50, 76.96, 75.91, 0.78)),
    "ln_subject-object_swap": (86.7, (2.2, 36.1, 12.83, 10.49), (0, 0, 0, 0)),
    "ln_preposition": (73.5, (3.2, 41.4, 17.94, 10.51), (0, 0.4, 0.04, 0.12)),
    "cn_embedded_under_if": (33.4, (4.1, 50.2, 19.57, 14.62), (0, 11.6, 4.33, 3.96)),
    "cn_embedded_under_verb": (33.0, (0.7, 28.9, 7.58, 7.86), (0, 0, 0, 0)),
}


@of_mnli
def test_what_section_3_says_of_so_swap_is_of_prep(mnli):
    rows = mnli["accuracy"].query("step == 61360 and repeat == 0 and sparsity == 0.5")
    result = rows.pivot(index="seed", columns="subset", values="accuracy").sort_index().iloc[[7, 4]]
    assert result["ln_preposition"].tolist() == pytest.approx([41.4, 19.5]) and list(result.index) == [49, 46]
    assert result["ln_subject-object_swap"].tolist() == pytest.approx([36.1, 14.4])


@of_mnli
@pytest.mark.parametrize("subset", SPREAD)
def test_the_published_spread(mnli, subset):
    full, *expected = SPREAD[subset]
    rows = mnli["accuracy"].query("step == 61360 and repeat == 0 and subset == @subset")
    assert rows.loc[rows["seed"].isna(), "accuracy"].item() == pytest.approx(full)
    for sparsity, numbers in zip((0.5, 0.7), expected, strict=True):
        of_seeds = rows.loc[rows["sparsity"] == sparsity, "accuracy"]
        assert len(of_seeds) == 12
        assert of_seeds.agg(["min", "max", "mean", "std"]).tolist() == pytest.approx(numbers, abs=0.0051)


# step -> ID, OOD, mixed, mixed 1:1; each as (per-seed, mean-first). None: undefined.
SIZES = {
    500: ((50, 50), None, (30, 30), (35, 35)),
    6500: ((51.7, 55), None, (35, 35), (41.7, 40)),
    12500: ((50, 50), (96.7, 100), (85, 90), (75, 90)),
    18500: ((48.3, 50), (93.3, 90), (83.3, 90), (83.3, 85)),
    24500: ((50, 50), (93.3, 90), (88.3, 90), (88.3, 90)),
    30500: ((48.3, 50), (83.3, 90), (76.7, 90), (76.7, 90)),
    36500: ((50, 50), (93.3, 90), (90, 90), (90, 90)),
    42500: ((48.3, 50), (73.3, 80), (73.3, 80), (73.3, 80)),
    48500: ((45, 45), (78.3, 75), (78.3, 75), (73.3, 75)),
    54500: ((48.3, 50), (76.7, 80), (76.7, 80), (76.7, 75)),
}


@pytest.mark.slow
@of_mnli
def test_the_published_effective_sizes(mnli):
    result = sizes(mnli)
    assert set(result["floor"]) == {30.0} and set(result["step"]) == {*SIZES, 61360}
    states = classify_sizes(result)
    for step, expected in SIZES.items():
        for group, pair in zip(("id", "ood", "mixed", "mixed-1:1"), expected, strict=True):
            here = result[(result["step"] == step) & (result["group"] == group)].set_index("order")
            values = here.loc[["per-seed", "mean-first"], "effective_size"].tolist()
            if pair is None:
                assert set(states[(result["step"] == step) & (result["group"] == group)]) == {"undefined"}
            else:
                assert values == pytest.approx(pair, abs=0.051), (step, group)


@of_mnli
def test_the_published_files_tell_a_study(mnli):
    about = context(mnli)
    assert (about.mid, about.high, about.last, about.curve_repeat) == (0.5, 0.7, 61360, 1)
    assert about.seeds == tuple(range(42, 54)) and about.curve_seeds == about.repeats == (42, 43, 44)
    # The subsets of all files, and beside them the entailment class of their families.
    assert about.subsets[:6] == tuple(SPREAD)
    assert {name[:2] for name in about.subsets[6:]} == {"le", "ce"} and len(about.subsets) == 16
    rows = mnli["accuracy"]
    assert rows.groupby(["step", "sparsity", "seed", "repeat", "subset"], dropna=False).size().eq(1).all()
    groups = rows.drop_duplicates("subset")["group"].value_counts().to_dict()
    assert groups == {"id": 2, "ood": 15, "ood-entailment": 15}
    assert rows[["n", "low", "change", "agreement"]].isna().all(axis=None)
    # The same seed at the same checkpoint and sparsity, run twice, is not the same subnetwork.
    twice = rows.query("step == 61360 and seed == 42 and sparsity == 0.5 and subset == 'ln_preposition'")
    assert twice.set_index("repeat")["accuracy"].nunique() == 2
    failed = rows[rows["accuracy"].isna()]
    assert failed.groupby(["step", "sparsity", "seed"]).size().index.tolist() == [
        (500, 0.1, 43), (12500, 0.6, 44), (18500, 0.6, 44), (18500, 0.7, 44), (30500, 0.4, 43), (48500, 0.1, 43)
    ]  # fmt: skip
    assert (rows["reason"].notna() == rows["accuracy"].isna()).all()
    assert len(mnli["finetune_accuracy"]) == 11 * 6
    actual = mnli["actual_sparsity"].query("sparsity == 0.5").set_index("seed")["actual_sparsity"]
    assert (actual[42], actual.min(), actual.max(), len(actual)) == (0.4551, 0.4551, 0.5321, 12)


@of_mnli
def test_the_paper_s_ablations(mnli):
    table = mnli["ablations"].set_index(["ablation", "subset"])
    triple = table.loc["2.5+3.7+4.0"]
    of_subsets = triple[triple.index.notna()]
    assert of_subsets["interaction"].dropna().to_dict() == {
        "ln_subject-object_swap": 7.3, "ln_preposition": 2.5,
        "cn_embedded_under_if": -8.2, "cn_embedded_under_verb": -12.2,
    }  # fmt: skip
    assert triple["change"]["ln_preposition"] == -62.4 and set(triple["layers"]) == {"2+3+4"}
    assert table.groupby("ablation")["role"].first().to_dict() == {
        "none": "none", "4.0": "core", "2.5+3.7+4.0": "strongest"
    }  # fmt: skip
    assert set(of_subsets.index) == set(SPREAD) - {"mnli_mismatched"}
    means = triple[triple.index.isna()].set_index("group")
    assert means.loc["ood", ["change", "interaction"]].tolist() == pytest.approx([-46.775, -2.65])
    assert np.isnan(means.loc["id", "interaction"])
    assert len(mnli["study"]["settings"]["core_heads"]) == 9


@of_mnli
def test_the_paper_s_expectation_of_the_core(mnli):
    """144 * 0.3^12 heads, as printed, and the same with the sparsities that the published subnetworks really have."""
    table = mnli["core_null"].set_index("set")
    assert f"{table.loc['high', 'expected_over_all']:.1e}" == "7.7e-05"
    actual = mnli["actual_sparsity"].query("sparsity == 0.7")["actual_sparsity"]
    assert len(actual) == 12 and f"{expected_over_all_heads(144, actual):.1e}" == "7.7e-05"
    assert table["n"].to_dict() == {"high": 12, "mid": 12, "mid+high": 24}
    assert table["observed"].dropna().to_dict() == {"mid+high": 9} and table[["expected", "p"]].isna().all(axis=None)
    _, marks = draw("table_core", {"core_null": mnli["core_null"]}, Figure(), context(mnli))
    (sheet,) = build_sheets("table_core", marks)
    assert sheet.rows[0] == ["high", "12", "12", "", "", "7.7e-05", ""] and sheet.rows[2][3] == "9"


@pytest.mark.slow
@of_mnli
def test_the_known_oddities_of_the_published_results_surface(mnli):
    """What a careful reader finds in the authors' numbers, found by the claims alone."""
    about, tables = context(mnli), {name: mnli[name] for name in ("accuracy", "finetune_accuracy", "actual_sparsity")}
    groups = compute_group_accuracy(tables["accuracy"], about.subsets)
    sizes = compute_effective_size(
        tables["accuracy"], Analysis(subsets=list(about.subsets), effective_size="grid"), about
    )
    tables |= {"group_accuracy": groups, "effective_size": sizes, "ablations": mnli["ablations"]}
    result = judge_claims(about, tables, load_claims(CLAIMS))
    verdicts = result[result["ft_seed"].isna()].set_index("claim")[["verdict", "detail"]].T.to_dict("list")
    verdict, detail = verdicts["sparsity-explains-spread"]
    assert verdict == "supported" and mentions(detail, "-0.60", 45.5, 53.2)
    # There is no model whose empty circuit could be evaluated, and J of ablations was not published.
    for name in ("size-is-flat-in-domain", "size-rises-with-generalisation"):
        verdict, detail = verdicts[name]
        assert verdict == "not run" and mentions(detail, "circuit_performance")
    assert {verdicts[name][0] for name in ("super-additive", "core-is-special", "share-heads")} == {"not run"}
    assert verdicts["high-sparsity-keeps-the-task"][0] == "not run"
    # The curves have no subset of the entailment class, so no J; elsewhere, what the paper says is supported in J.
    assert verdicts["declines-with-sparsity"][0] == "not run" and mentions(verdicts["declines-with-sparsity"][1], "J")
    for name in (
        "agree-in-domain",
        "disagree-out-of-domain",
        "high-sparsity-loses-generalisation",
        "no-sparse-subnetwork-generalises",
        "near-the-full-model",
    ):
        assert verdicts[name][0] == "supported", verdicts[name]
