"""The authors' QQP results: subsets that runs lack, a subset and its part, and the authors' own numbers."""

import json

import numpy as np
import pytest
from mentions import mentions
from published_files import FOLDER, context, import_study

from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_group_accuracy
from heuristic_core.experiments.subnetworks.published.files import RUN_FAILED, VALUE_MISSING, PublishedValue
from heuristic_core.experiments.subnetworks.published.paws import PAWS, derive_rest
from heuristic_core.experiments.subnetworks.published.study import read_studies
from heuristic_core.experiments.subnetworks.report.missing import collect_gaps

PAIRS = {"qqp": 40_430, "paws-qqp": 12_663, "paws-qqp_0": 8_696}
# Pairs right of qqp-sp30.json and qqp-sp60.json (github.com/princeton-nlp/Heuristic-Core, data/eval, MIT licence):
# the full model, then seeds 42 to 53.
RIGHT = {
    30: {
        "qqp": (36868, 36472, 36510, 36455, 36446, 36541, 36428, 36354, 36411, 36542, 36472, 36451, 36540),
        "paws-qqp": (5040, 4730, 4150, 4560, 4462, 4242, 4412, 4278, 4523, 4317, 4413, 4596, 4415),
        "paws-qqp_0": (1287, 1059, 269, 866, 672, 381, 649, 438, 706, 529, 607, 791, 568),
    },
    60: {
        "qqp": (36868, 35041, 34947, 35297, 35113, 34927, 34607, 35089, 34915, 35097, 34955, 35129, 34775),
        "paws-qqp": (5040, 3988, 3974, 4025, 4018, 4055, 3983, 4000, 4029, 3978, 4025, 3977, 3985),
        "paws-qqp_0": (1287, 63, 86, 178, 161, 249, 99, 136, 189, 131, 233, 68, 146),
    },
}
# Mean and standard deviation (n-1) over 12 seeds, percent. Of the duplicates: from the counts above.
SPREAD = {
    30: {"qqp_validation": (90.202, 0.143), "paws_adversarial": (7.221, 2.494), "paws_duplicates": (95.713, 1.591)},
    60: {"qqp_validation": (86.547, 0.446), "paws_adversarial": (1.666, 0.697), "paws_duplicates": (97.257, 0.982)},
}
FULL = {"qqp_validation": 36868 / 404.30, "paws_adversarial": 1287 / 86.96, "paws_duplicates": 3753 / 39.67}


@pytest.fixture
def folder(tmp_path):
    """The authors' spread, with a curve, a training and a grid as short as can be; one failed run lacks a subset."""
    to = tmp_path / "files"
    to.mkdir()

    def write(name, values):
        (to / f"qqp-{name}.json").write_text(json.dumps(values))

    def single(right):
        """As the authors' curves have them: in single precision, but for the part of PAWS."""
        shares = {name: count / PAIRS[name] for name, count in right.items()}
        return {name: share if name == PAWS.part else float(np.float32(share)) for name, share in shares.items()}

    full = single({name: counts[0] for name, counts in RIGHT[30].items()})
    pruned = {
        percent: single({name: counts[1] for name, counts in columns.items()}) for percent, columns in RIGHT.items()
    }
    for percent, columns in RIGHT.items():
        shares = {name: [count / PAIRS[name] for count in counts] for name, counts in columns.items()}
        about = {"seed": ["original", *map(str, range(42, 54))], "sparsity": [0, *[percent / 100] * 12]}
        write(f"sp{percent}", about | shares)
    write("acc_vs_sparsity", {"42": {"0": full} | pruned})
    write("acc_over_ft", {"500": full, "2000": full, "40000": full})
    failed = {"qqp": -1.0, "paws-qqp": -1.0}
    write("sparsity-grid-acc", {"42": {"500": pruned, "2000": {30: failed, 60: pruned[60]}}})
    return to


def test_the_published_spread_and_the_duplicates_that_follow_from_it(folder, tmp_path):
    rows = import_study(folder, tmp_path, "qqp")["accuracy"].query("step == 40000 and repeat == 0")
    for percent, of_subset in SPREAD.items():
        here = rows[rows["sparsity"] == percent / 100].groupby("subset")["accuracy"]
        for subset, expected in of_subset.items():
            assert (here.mean()[subset], here.std()[subset]) == pytest.approx(expected, abs=0.0005)
    assert rows[rows["seed"].isna()].set_index("subset")["accuracy"].to_dict() == pytest.approx(FULL)


def test_a_subset_that_a_run_lacks_is_a_missing_value_that_is_listed(folder, tmp_path):
    result = import_study(folder, tmp_path, "qqp")
    missing = result["accuracy"][result["accuracy"]["accuracy"].isna()]
    assert missing[["step", "sparsity", "seed"]].drop_duplicates().values.tolist() == [[2000, 0.3, 42]]
    assert missing.set_index("subset")["reason"].to_dict() == {
        "qqp_validation": RUN_FAILED, "paws_duplicates": RUN_FAILED, "paws_adversarial": VALUE_MISSING
    }  # fmt: skip
    assert [(gap.what, gap.reason) for gap in collect_gaps(result["accuracy"], None)] == [
        ("qqp_validation, paws_duplicates", RUN_FAILED), ("paws_adversarial", VALUE_MISSING)
    ]  # fmt: skip
    lines = (tmp_path / "import.log").read_text().splitlines()
    assert any(mentions(line, 2000, 0.3, 42, 1, VALUE_MISSING) for line in lines)
    groups = compute_group_accuracy(result["accuracy"], context(result).subsets)
    assert groups[groups["accuracy"].isna()].groupby(["step", "sparsity"]).size().to_dict() == {
        (2000, 0.3): 4
    }  # J, too


def test_a_whole_and_its_part_are_not_both_ood(folder):
    (study,) = read_studies(folder, {})
    assert {value.subset: value.group for value in study.subsets.values()} == {
        "qqp_validation": "id", "paws_adversarial": "ood", "paws_duplicates": "ood-entailment"
    }  # fmt: skip
    assert study.context.subsets == ("qqp_validation", "paws_adversarial", "paws_duplicates")


def test_the_import_states_how_the_duplicates_were_derived(folder, tmp_path):
    stated = import_study(folder, tmp_path, "qqp")["study"]["settings"]["derived"]
    assert stated.keys() == {"paws-qqp_1"}
    assert mentions(stated["paws-qqp_1"], "(12663 x paws-qqp - 8696 x paws-qqp_0) / 3967")
    assert stated["paws-qqp_1"] in (tmp_path / "import.log").read_text()


def test_a_whole_without_its_part_stays(folder):
    for path in folder.iterdir():
        path.write_text(path.read_text().replace('"paws-qqp_0"', '"paws-other"'))
    (study,) = read_studies(folder, {})
    assert {name: subset.group for name, subset in study.subsets.items()} == {
        "qqp": "id", "paws-qqp": "ood", "paws-other": "ood"
    }  # fmt: skip


@pytest.mark.parametrize(
    "all_pairs, part, expected",
    [
        (5040 / 12663, 1287 / 8696, (3753 / 39.67, None)),
        (np.float32(5040 / 12663), 1287 / 8696, (3753 / 39.67, None)),
        (8696 / 12663, 1.0, (0.0, None)),
        (None, 0.5, (None, (RUN_FAILED,))),
        (0.5, None, (None, (VALUE_MISSING,))),
        (0.39804, 1287 / 8696, (None, ("paws-qqp", "paws-qqp_0", 12663, 8696))),
        (0.0, 1287 / 8696, (None, ("paws-qqp", "paws-qqp_0", 12663, 8696))),
    ],
)
def test_the_duplicates_follow_exactly_or_are_missing(all_pairs, part, expected):
    def value(name, share, reason):
        accuracy = None if share is None else 100 * float(share)
        return PublishedValue(500, 0.3, 42, 1, name, accuracy, reason if share is None else None)

    rest = derive_rest(value(PAWS.whole, all_pairs, RUN_FAILED), value(PAWS.part, part, VALUE_MISSING))
    accuracy, named = expected
    assert rest[:5] == (500, 0.3, 42, 1, "paws-qqp_1")
    assert rest.accuracy == (None if accuracy is None else pytest.approx(accuracy))
    assert rest.reason is None if named is None else mentions(rest.reason, *named)


@pytest.mark.skipif(not (FOLDER / "qqp-sp30.json").is_file(), reason=f"the authors' QQP files are not at {FOLDER}")
def test_the_authors_own_files(tmp_path):
    result = import_study(FOLDER, tmp_path, "qqp")
    rows = result["accuracy"]
    spread = rows[(rows["step"] == 40000) & (rows["repeat"] == 0) & rows["seed"].notna()]
    values = spread.groupby(["sparsity", "subset"])["accuracy"]
    expected = {(percent / 100, name): pair for percent, cell in SPREAD.items() for name, pair in cell.items()}
    assert values.mean().to_dict() == pytest.approx({key: mean for key, (mean, _) in expected.items()}, abs=0.0005)
    assert values.std().to_dict() == pytest.approx({key: sd for key, (_, sd) in expected.items()}, abs=0.0005)
    lacking = rows[rows["reason"] == VALUE_MISSING]
    assert len(lacking) == 7 and set(lacking["subset"]) == {"paws_adversarial"}
    assert rows["step"].nunique() == 11
