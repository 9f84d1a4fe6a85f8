"""The authors' published results: their own numbers from their own files, and files that nobody has seen yet."""

import importlib.util
import json
import random

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, SHARED
from reduced import snakemake

from heuristic_core.analysis.accuracy import group_accuracy_of
from heuristic_core.analysis.claims import claims
from heuristic_core.analysis.effective_size import effective_size, state
from heuristic_core.analysis.spread import variance
from heuristic_core.common.errors import InputError
from heuristic_core.config.analysis import Analysis
from heuristic_core.config.claims import load_claims
from heuristic_core.config.context import Context
from heuristic_core.published.study import studies
from heuristic_core.published.subsets import named
from heuristic_core.tables.parquet import read_table

FOLDER = SHARED / "reference" / "published"
TABLES = ("accuracy", "finetune_accuracy", "actual_sparsity")

of_mnli = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the authors' result files are not at {FOLDER}")


def imported(folder, to, task, *more):
    """Tables by name, and study.json, as the import writes them from `folder`."""
    source = ROOT / "workflow" / "scripts" / "published.py"
    spec = importlib.util.spec_from_file_location("script_published", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = [*TABLES, *(["ablations"] if task == "mnli" else [])]
    outputs = [word for t in wanted for word in (f"--{t.replace('_', '-')}", str(to / f"{t}.parquet"))]
    given = ["--folder", folder, "--task", task, "--study", to / "study.json", "--log", to / "import.log"]
    module.main([*map(str, given), *outputs, *more])
    about = json.loads((to / "study.json").read_text())
    return {t: read_table(to / f"{t}.parquet") for t in wanted} | {"study": about}


def context(found):
    return Context.model_validate_json(json.dumps(found["study"]["context"]))


def sizes(found):
    """Effective sizes by the paper's criterion, summaries over seeds."""
    analysis = Analysis(**found["study"]["settings"]["analysis"])
    table = effective_size(found["accuracy"], analysis, context(found))
    return table[table["seed"].isna() & (table["criterion"] == "accuracy") & (table["threshold"] == 3.0)]


# ---- MNLI, the authors' own files


@pytest.fixture(scope="module")
def mnli(tmp_path_factory):
    return imported(FOLDER, tmp_path_factory.mktemp("mnli"), "mnli")


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


@of_mnli
def test_the_published_effective_sizes(mnli):
    found = sizes(mnli)
    assert set(found["floor"]) == {30.0} and set(found["step"]) == {*SIZES, 61360}
    states = state(found)
    for step, expected in SIZES.items():
        for group, pair in zip(("id", "ood", "mixed", "mixed-1:1"), expected, strict=True):
            here = found[(found["step"] == step) & (found["group"] == group)].set_index("order")
            values = here.loc[["per-seed", "mean-first"], "effective_size"].tolist()
            if pair is None:
                assert set(states[(found["step"] == step) & (found["group"] == group)]) == {"undefined"}
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


# ---- QQP, from files that are made up


def shuffled(mapping, rng):
    keys = list(mapping)
    rng.shuffle(keys)
    return {key: mapping[key] for key in keys}


@pytest.fixture
def qqp(tmp_path):
    """A folder with five files as QQP's are said to be: 30 and 60 %, 80 steps, names that differ between files."""
    rng = random.Random(0)
    folder = tmp_path / "files"
    folder.mkdir()
    seeds, subsets = [*range(42, 54)], ("validation", "paws_qqp_paraphrase", "paws-qqp-nonparaphrase")

    def write(name, values):
        (folder / f"qqp-{name}.json").write_text(json.dumps(values))

    def leaf(*keys):
        return shuffled(dict(zip(subsets, (0.9, 1 - sum(keys) / 1e6, sum(keys) / 1e6), strict=True)), rng)

    for percent in (60, 30):
        columns = {"qqp-validation": [0.91] * 13, "paws-qqp-nonparaphrase": [0.5, *(s / 100 for s in seeds)]}
        columns |= {"paws_qqp_paraphrase": [1] * 13, "seed": [*map(str, seeds)], "sparsity": [percent / 100] * 12}
        columns["seed"].insert(0, "original")
        columns["sparsity"].insert(0, 0.0)
        write(f"sp{percent}", shuffled(columns, rng))
    percents, steps = range(5, 70, 5), range(500, 14001, 1500)
    of_seed = {s: shuffled({p: leaf(s, p) for p in (0, *percents)}, rng) for s in (43, 42, 44)}
    write("acc_vs_sparsity", of_seed)
    write("acc_over_ft", shuffled({step: leaf(step) for step in range(500, 40001, 500)}, rng))
    of_step = {s: shuffled({t: {p: leaf(s, t, p) for p in percents} for t in steps}, rng) for s in (44, 42, 43)}
    of_step[43][2000][60] = dict.fromkeys(subsets, -1)
    write("sparsity-grid-acc", of_step)
    return folder


def test_files_with_other_names_sparsities_and_steps(qqp, tmp_path):
    found = imported(qqp, tmp_path, "qqp")
    about = context(found)
    assert (about.mid, about.high, about.last, about.counterpart.task) == (0.3, 0.6, 40000, "qqp")
    assert about.checkpoints == (*range(500, 14001, 1500), 40000)
    assert set(about.subsets) == {"qqp_validation", "paws_qqp_paraphrase", "paws_qqp_nonparaphrase"}
    rows = found["accuracy"]
    assert rows.drop_duplicates("subset").set_index("subset")["group"].to_dict() == {
        "qqp_validation": "id", "paws_qqp_paraphrase": "ood-entailment", "paws_qqp_nonparaphrase": "ood"
    }  # fmt: skip
    where = "step == {} and sparsity == {} and subset == 'paws_qqp_nonparaphrase' and "
    assert rows.query(where.format(40000, 0.3) + "seed == 47")["accuracy"].tolist() == [47.0]
    assert rows.query(where.format(40000, 0.3) + "seed == 42").set_index("repeat")["accuracy"].to_dict() == {
        0: 42.0, 1: pytest.approx(100 * 72 / 1e6)
    }  # fmt: skip
    # The sp file's full model wins over that of the other files at the same step.
    assert rows.query(where.format(40000, 0) + "seed.isna()")["accuracy"].tolist() == [50.0]
    assert rows.query(where.format(2000, 0) + "seed.isna()")["accuracy"].item() == pytest.approx(0.2)
    trace = found["finetune_accuracy"]
    assert trace["step"].nunique() == 80 and len(trace) == 80 * 3
    assert trace.query("step == 40000 and subset == 'qqp_validation'")["accuracy"].item() == pytest.approx(91)
    failed = rows[rows["accuracy"].isna()]
    assert failed[["step", "sparsity", "seed"]].drop_duplicates().values.tolist() == [[2000, 0.6, 43]]
    assert set(failed["reason"]) == {"the published file has -1: a failed run"}
    log = (tmp_path / "import.log").read_text()
    assert "failed run: step 2000, sparsity 0.6, seed 43" in log
    assert "paws-qqp-nonparaphrase is paws_qqp_nonparaphrase, ood, in group means" in log
    at_floor = sizes(found)
    assert set(at_floor["floor"]) == {35.0} and set(at_floor["step"]) == set(about.checkpoints)


def test_groups_can_be_said(qqp, tmp_path):
    groups = json.dumps({"qqp-validation": "ood", "paws_qqp_paraphrase": "id"})
    rows = imported(qqp, tmp_path, "qqp", "--groups", groups)["accuracy"]
    assert rows.groupby("subset")["group"].unique().map(list).to_dict() == {
        "qqp_validation": ["ood"], "paws_qqp_paraphrase": ["id"], "paws_qqp_nonparaphrase": ["ood"]
    }  # fmt: skip


@pytest.mark.parametrize(
    "groups, message",
    [
        ({"validation": "in"}, "published_groups: validation = 'in' is no group; give one of id, ood"),
        ({"elsewhere": "id"}, "published_groups: no subset 'elsewhere' in .*; there are .*qqp_validation"),
        ({"validation": "ood"}, "of the subsets that all files of qqp have, none is id .*qqp_validation is ood"),
    ],
)
def test_groups_that_cannot_be(qqp, groups, message):
    with pytest.raises(InputError, match=message):
        studies(qqp, groups)


@pytest.mark.parametrize(
    "name, task, expected",
    [
        ("lexical_overlap_ln_subject/object_swap", "mnli", ("ln_subject-object_swap", "ood", "lexical_overlap")),
        ("subsequence_se_PP_on_obj", "mnli", ("se_PP_on_obj", "ood-entailment", "subsequence")),
        ("cn_adverb", "mnli", ("cn_adverb", "ood", "constituent")),
        ("mnli-matched", "mnli", ("mnli_matched", "id", None)),
        ("validation_mismatched", "mnli", ("mnli_mismatched", "id", None)),
        ("validation", "qqp", ("qqp_validation", "id", None)),
        ("qqp", "qqp", ("qqp_validation", "id", None)),
        ("qqp_dev", "qqp", ("qqp_validation", "id", None)),
        ("paws_qqp", "qqp", ("paws_qqp", "ood", None)),
        ("PAWS-QQP validation", "qqp", ("PAWS_QQP_validation", "ood", None)),
        ("paws-adv", "qqp", ("paws_adv", "ood", None)),
        ("paws-not-duplicate", "qqp", ("paws_not_duplicate", "ood", None)),
        ("paws-duplicate", "qqp", ("paws_duplicate", "ood-entailment", None)),
        ("anything", "qqp", ("anything", "ood", None)),
    ],
)
def test_names_and_groups(name, task, expected):
    assert tuple(named([name], task, {})[name]) == expected


def changed(path, change):
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


@pytest.mark.parametrize(
    "file, change, message",
    [
        ("sp30", lambda v: v.pop("seed"), r"qqp-sp30.json: no key 'seed'; it has "),
        ("sp30", lambda v: v["sparsity"].pop(), r"qqp-sp30.json: sparsity has 12 values, seed has 13"),
        ("sp60", lambda v: v["qqp-validation"].pop(), r"qqp-sp60.json: qqp-validation has 12 values, seed has 13"),
        ("sp60", lambda v: v.update({"qqp-validation": 0.9}), r"qqp-sp60.json: qqp-validation = 0.9 must be a list"),
        ("sp30", lambda v: v["seed"].__setitem__(0, "first"), r"seed\[0\]: 'first' must be a whole number"),
        ("sp30", lambda v: v["seed"].__setitem__(1, 43), r"seed = .* must have 'original' once, and no seed twice"),
        ("sp30", lambda v: v["qqp-validation"].__setitem__(2, 91), r"qqp-validation\[2\] = 91 must be a share, 0 to 1"),
        ("sp30", lambda v: v["qqp-validation"].__setitem__(2, "-1"), r"qqp-validation\[2\] = '-1' must be a share"),
        ("sp30", lambda v: v.update({"validation": v["qqp-validation"]}), r"of one file are both qqp_validation"),
        (
            "acc_vs_sparsity",
            lambda v: v["42"]["5"].update(validation=-0.5),
            r"qqp-acc_vs_sparsity.json: \['42'\]\['5'\]\['validation'\] = -0.5 must be a share, 0 to 1, or -1",
        ),
        (
            "acc_vs_sparsity",
            lambda v: v["43"]["5"].pop("validation"),
            r"qqp-acc_vs_sparsity.json: \['43'\]\['5'\] lacks 'validation'",
        ),
        (
            "acc_vs_sparsity",
            lambda v: v["43"].update({"100": v["43"]["5"]}),
            r"sparsity in \['43'\]: '100' must be",
        ),
        ("acc_over_ft", lambda v: v.update({"500": 0.9}), r"\['500'\] = 0.9 must map each subset to its values"),
        ("acc_over_ft", lambda v: v.update({"early": v["500"]}), r"step in the file: 'early' must be a whole number"),
        ("sparsity-grid-acc", lambda v: v["42"].update({"500": {}}), r"\['42'\]\['500'\] = {} must map each sparsity"),
        ("sparsity-grid-acc", lambda v: v["42"]["500"]["5"].update(validation=float("nan")), r"= nan must be a share"),
    ],
)
def test_malformed_files_are_refused(qqp, file, change, message):
    changed(qqp / f"qqp-{file}.json", change)
    with pytest.raises(InputError, match=message):
        studies(qqp, {})


def test_files_that_are_not_there_or_not_json(qqp, tmp_path):
    (qqp / "qqp-acc_over_ft.json").write_text("{")
    with pytest.raises(InputError, match=r"qqp-acc_over_ft.json is not JSON"):
        studies(qqp, {})
    (qqp / "qqp-acc_over_ft.json").unlink()
    with pytest.raises(InputError, match=r"no file qqp-acc_over_ft.json, which qqp needs"):
        studies(qqp, {})
    (qqp / "qqp-sp45.json").write_text("{}")
    with pytest.raises(InputError, match=r"two files qqp-sp<NN>.json, .* found qqp-sp30.json, qqp-sp45.json, qqp-sp60"):
        studies(qqp, {})
    with pytest.raises(InputError, match=r"no files mnli-sp<NN>.json, qqp-sp<NN>.json"):
        studies(tmp_path / "nowhere", {})


def test_the_same_files_in_another_order_give_the_same_tables(qqp, tmp_path):
    first = imported(qqp, tmp_path, "qqp")
    for name in ("acc_vs_sparsity", "acc_over_ft", "sparsity-grid-acc"):
        path = qqp / f"qqp-{name}.json"
        path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))
    second = imported(qqp, tmp_path, "qqp")
    for table in TABLES:
        pd.testing.assert_frame_equal(first[table], second[table])


@of_mnli
def test_the_known_oddities_of_the_published_results_surface(mnli):
    """What a careful reader finds in the authors' numbers, found by the claims alone."""
    about, tables = context(mnli), {name: mnli[name] for name in ("accuracy", "finetune_accuracy", "actual_sparsity")}
    groups = group_accuracy_of(tables["accuracy"], about.subsets)
    sizes = effective_size(tables["accuracy"], Analysis(subsets=list(about.subsets), effective_size="grid"), about)
    tables |= {"group_accuracy": groups, "effective_size": sizes, "ablations": mnli["ablations"]}
    tables["variance"] = variance(tables["accuracy"], groups, about)
    found = claims(about, tables, load_claims(ROOT / "claims.yaml"))
    verdicts = found[found["ft_seed"].isna()].set_index("claim")[["verdict", "detail"]].T.to_dict("list")
    assert verdicts["light-pruning-is-harmless"] == [
        "not supported", "from 5 to 10 % sparsity; there 6 of 6 subsets rise"
    ]  # fmt: skip
    verdict, detail = verdicts["sparsity-explains-spread"]
    assert verdict == "supported" and detail.startswith("rho -0.60, actual sparsity 45.5 to 53.2 %")
    assert verdicts["nowhere-sub-additive"][0] == "not supported"
    assert verdicts["nowhere-sub-additive"][1].startswith("negative on 2 of 4:")
    assert verdicts["size-is-defined"][0] == "not supported"
    assert verdicts["size-is-defined"][1] == "at steps 500 (full model 0.5 %), 6500 (full model 0.8 %)"
    # Two runs of one seed differ nearly as much as two seeds do.
    assert verdicts["seeds-matter-more-than-repeats"][0] == "undecided"
    # Sizes on OOD begin high, and fall as the model generalises; three seeds do not show by how much they jump.
    assert verdicts["ood-size-jumps"][0] == "undecided" and verdicts["ood-size-jumps"][1].startswith("from step 6500")
    assert verdicts["size-falls-as-generalisation-rises"][1].startswith("rho -0.83 from step 12500 on, p = 0.0")
    # And what the paper says of its subnetworks stands.
    for name in (
        "agree-in-domain",
        "disagree-out-of-domain",
        "high-sparsity-fails-out-of-domain",
        "ood-size-is-larger",
    ):
        assert verdicts[name][0] == "supported", name


@pytest.mark.slow
def test_published_goes_the_whole_way(qqp, tmp_path):
    """The user's command, on files of names that nothing here knows: tables, figures, claims and report."""
    done = snakemake(tmp_path, "--config", f"published={qqp}", "--", "published")
    assert done.returncode == 0
    root = tmp_path / "results/published-qqp"
    drawn = {path.stem for path in (root / "figures").glob("*.png")}
    assert {"figure02", "figure03", "figure04", "figure06", "figure12"} <= drawn
    verdicts = read_table(root / "tables/claims.parquet").set_index("claim")["verdict"]
    assert verdicts["high-sparsity-fails-out-of-domain"].iloc[0] == "not supported"  # 42 to 53 % by construction
    assert "paws_qqp_nonparaphrase" in (root / "report.html").read_text()
