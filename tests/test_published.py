"""Published results in files that nobody has seen yet: names, groups, and what is refused."""

import json
import random

import pandas as pd
import pytest
from conftest import ROOT
from mentions import mentions, raises
from published_files import TABLES, context, import_study, sizes
from reduced import snakemake

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_config
from heuristic_core.experiments.studies import parse_studies
from heuristic_core.experiments.subnetworks.published.study import read_studies
from heuristic_core.experiments.subnetworks.published.subsets import map_subsets
from heuristic_core.tables.parquet import read_table


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
    leaves_by_seed = {s: shuffled({p: leaf(s, p) for p in (0, *percents)}, rng) for s in (43, 42, 44)}
    write("acc_vs_sparsity", leaves_by_seed)
    write("acc_over_ft", shuffled({step: leaf(step) for step in range(500, 40001, 500)}, rng))
    of_step = {s: shuffled({t: {p: leaf(s, t, p) for p in percents} for t in steps}, rng) for s in (44, 42, 43)}
    of_step[43][2000][60] = dict.fromkeys(subsets, -1)
    write("sparsity-grid-acc", of_step)
    return folder


@pytest.mark.slow
def test_files_with_other_names_sparsities_and_steps(qqp, tmp_path):
    result = import_study(qqp, tmp_path, "qqp")
    about = context(result)
    assert (about.mid, about.high, about.last, about.counterpart.task) == (0.3, 0.6, 40000, "qqp")
    assert about.checkpoints == (*range(500, 14001, 1500), 40000)
    assert set(about.subsets) == {"qqp_validation", "paws_qqp_paraphrase", "paws_qqp_nonparaphrase"}
    rows = result["accuracy"]
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
    trace = result["finetune_accuracy"]
    assert trace["step"].nunique() == 80 and len(trace) == 80 * 3
    assert trace.query("step == 40000 and subset == 'qqp_validation'")["accuracy"].item() == pytest.approx(91)
    failed = rows[rows["accuracy"].isna()]
    assert failed[["step", "sparsity", "seed"]].drop_duplicates().values.tolist() == [[2000, 0.6, 43]]
    (reason,) = set(failed["reason"])
    assert mentions(reason, -1)
    lines = (tmp_path / "import.log").read_text().splitlines()
    assert any(mentions(line, 2000, 0.6, 43, 1, reason, 3) for line in lines)
    assert any(mentions(line, "paws-qqp-nonparaphrase", "paws_qqp_nonparaphrase", "ood") for line in lines)
    at_floor = sizes(result)
    assert set(at_floor["floor"]) == {35.0} and set(at_floor["step"]) == set(about.checkpoints)


def test_groups_can_be_said(qqp, tmp_path):
    groups = json.dumps({"qqp-validation": "ood", "paws_qqp_paraphrase": "id"})
    rows = import_study(qqp, tmp_path, "qqp", "--groups", groups)["accuracy"]
    assert rows.groupby("subset")["group"].unique().map(list).to_dict() == {
        "qqp_validation": ["ood"], "paws_qqp_paraphrase": ["id"], "paws_qqp_nonparaphrase": ["ood"]
    }  # fmt: skip


@pytest.mark.parametrize(
    "groups, named",
    [
        ({"validation": "in"}, ("published_groups", "validation", "'in'", "id", "ood")),
        ({"elsewhere": "id"}, ("published_groups", "'elsewhere'", "qqp_validation")),
        ({"validation": "ood"}, ("qqp", "id", "qqp_validation", "ood")),
    ],
)
def test_groups_that_cannot_be(qqp, groups, named):
    with raises(InputError, *named):
        read_studies(qqp, groups)


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
        ("paws-qqp_0", "qqp", ("paws_adversarial", "ood", None)),
        ("paws-qqp_1", "qqp", ("paws_duplicates", "ood-entailment", None)),
        ("anything", "qqp", ("anything", "ood", None)),
    ],
)
def test_names_and_groups(name, task, expected):
    assert tuple(map_subsets([name], task, {})[name]) == expected


def changed(path, change):
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


@pytest.mark.parametrize(
    "file, change, named",
    [
        ("sp30", lambda v: v.pop("seed"), ("'seed'",)),
        ("sp30", lambda v: v["sparsity"].pop(), ("sparsity", 12, "seed", 13)),
        ("sp60", lambda v: v["qqp-validation"].pop(), ("qqp-validation", 12, "seed", 13)),
        ("sp60", lambda v: v.update({"qqp-validation": 0.9}), ("qqp-validation", 0.9)),
        ("sp30", lambda v: v["seed"].__setitem__(0, "first"), ("seed[0]", "'first'")),
        ("sp30", lambda v: v["seed"].__setitem__(1, 43), ("seed", "'original'")),
        ("sp30", lambda v: v["qqp-validation"].__setitem__(2, 91), ("qqp-validation[2]", 91, 0, 1)),
        ("sp30", lambda v: v["qqp-validation"].__setitem__(2, "-1"), ("qqp-validation[2]", "'-1'")),
        (
            "acc_vs_sparsity",
            lambda v: v["42"]["5"].update(validation=-0.5),
            ("['42']['5']['validation']", -0.5, 0, 1, -1),
        ),
        ("acc_vs_sparsity", lambda v: v["43"].update({"100": v["43"]["5"]}), ("sparsity", "['43']", "'100'")),
        ("acc_over_ft", lambda v: v.update({"500": 0.9}), ("['500']", 0.9)),
        ("acc_over_ft", lambda v: v.update({"early": v["500"]}), ("step", "'early'")),
        ("sparsity-grid-acc", lambda v: v["42"].update({"500": {}}), ("['42']['500']", "{}")),
        ("sparsity-grid-acc", lambda v: v["42"]["500"]["5"].update(validation=float("nan")), ("nan",)),
    ],
)
def test_malformed_files_are_refused(qqp, file, change, named):
    changed(qqp / f"qqp-{file}.json", change)
    with raises(InputError, f"qqp-{file}.json", *named):
        read_studies(qqp, {})


def test_two_names_of_one_subset_in_a_file_are_refused(qqp):
    changed(qqp / "qqp-sp30.json", lambda v: v.update({"validation": v["qqp-validation"]}))
    with raises(InputError, "qqp", "'qqp-validation'", "'validation'", "qqp_validation"):
        read_studies(qqp, {})


def test_files_that_are_not_there_or_not_json(qqp, tmp_path):
    (qqp / "qqp-acc_over_ft.json").write_text("{")
    with raises(InputError, "qqp-acc_over_ft.json"):
        read_studies(qqp, {})
    (qqp / "qqp-acc_over_ft.json").unlink()
    with raises(InputError, "qqp-acc_over_ft.json", "qqp"):
        read_studies(qqp, {})
    (qqp / "qqp-sp45.json").write_text("{}")
    with raises(InputError, "qqp-sp<NN>.json", "qqp-sp30.json", "qqp-sp45.json", "qqp-sp60.json"):
        read_studies(qqp, {})
    with raises(InputError, "mnli-sp<NN>.json", "qqp-sp<NN>.json"):
        read_studies(tmp_path / "nowhere", {})


def test_the_same_files_in_another_order_give_the_same_tables(qqp, tmp_path):
    first = import_study(qqp, tmp_path, "qqp")
    for name in ("acc_vs_sparsity", "acc_over_ft", "sparsity-grid-acc"):
        path = qqp / f"qqp-{name}.json"
        path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))
    second = import_study(qqp, tmp_path, "qqp")
    for table in TABLES:
        pd.testing.assert_frame_equal(first[table], second[table])


@pytest.mark.slow
def test_published_goes_the_whole_way(qqp, tmp_path):
    """The user's command, on files of names that nothing here knows: tables, figures, claims and report."""
    done = snakemake(tmp_path, "--config", f"published={qqp}", "--", "published")
    assert done.returncode == 0
    root = tmp_path / "results/published-qqp"
    drawn = {path.stem for path in (root / "figures").glob("*.png")}
    assert {"figure02", "figure03", "figure04", "figure06", "figure12"} <= drawn
    verdicts = read_table(root / "tables/claims.parquet").set_index("claim")["verdict"]
    assert verdicts["high-sparsity-loses-generalisation"].iloc[0] == "contradicted"  # 42 to 53 % by construction
    assert "paws_qqp_nonparaphrase" in (root / "report.html").read_text()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"published_group": {}}, ("published_group",)),  # a misspelt key
        ({"crate": "x.zip"}, ("published", "crate")),
        ({"studies": ["config.yaml"]}, ("published",)),
    ],
)
def test_what_cannot_be_imported_together_is_refused(changes, words):
    with raises(InputError, *words):
        parse_studies(read_config(ROOT / "config.yaml") | {"published": "nowhere"} | changes, "config.yaml")
