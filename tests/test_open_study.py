"""A study as one Python object: its tables, its subnetworks, its models, and what it says to a wrong question."""

import json
import re
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from archives import export
from conftest import ROOT
from mentions import mentions, raises
from reduced import REDUCED, STUDY
from scipy.special import softmax

import heuristic_core
from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.experiments import list_sorting  # noqa: F401 (its schemas)
from heuristic_core.experiments.subnetworks.experiment import EXPERIMENT
from heuristic_core.provenance.digests import PACKAGE, code_files
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.report.results import Results
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table
from heuristic_core.tables.schemas import SCHEMAS

RUN = Identity("made", "tiny", "pairs", ft_seed=1, step=60)
SETTINGS = {"model": {"name": "tiny"}, "task": {"name": "pairs", "max_length": 20}, "precision": "float32"}
PAIR = ("chefs saw kings", "kings saw chefs")


def described(folder, settings):
    (folder / "tables").mkdir(parents=True)
    (folder / "study.json").write_text(json.dumps({"context": None, "settings": settings}))
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with one table, one subnetwork and one run that failed; braces in its name mean nothing."""
    folder = described(tmp_path_factory.mktemp("studies") / "{made}", SETTINGS)
    write_table("splits", [], folder / "tables/splits.parquet")
    cell = folder / "tiny/pairs/ft1/step60/s0.4"
    for seed in ("seed42", "seed42/repeat1", "seed43"):
        (cell / seed).mkdir(parents=True)
    kept = Subnetwork(RUN._replace(sparsity=0.4, seed=42), 1, 2, (0, 2), (1.0, -1.0, 1.0))
    kept.save(cell / "seed42/subnetwork.json")
    Subnetwork(kept.identity._replace(repeat=1), 1, 2, (1, 2), (-1.0, 1.0, 1.0)).save(
        cell / "seed42/repeat1/subnetwork.json"
    )
    FailedRun(RUN._replace(sparsity=0.4, seed=43), "diverged by step 7").save(cell / "seed43/subnetwork.json")
    return folder


@pytest.fixture(scope="module")
def study(finished):
    return heuristic_core.open_study(finished / "results/reduced")


@pytest.fixture(scope="module")
def root(study):
    """The folder of its model on its task."""
    return study.folder / "mini-bert/pairs"


def loaded(code: str, *names: str) -> set[str]:
    """Which of the packages `names` a Python has loaded that has run `code`."""
    code += f"\nimport sys\nprint(*({{*sys.modules}} & {set(names)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_the_door_imports_nothing_until_it_is_used():
    assert loaded("import heuristic_core", "heuristic_core.experiments", "numpy", "pyarrow", "pydantic") == set()


@pytest.mark.slow
def test_opening_a_study_imports_no_library_of_models_or_frames(made):
    code = f"import heuristic_core\nstudy = heuristic_core.open_study({str(made)!r})\nstudy.tables, study.subnetworks"
    heavy = ("torch", "transformers", "tokenizers", "snakemake", "pandas", "scipy", "matplotlib", "datasets")
    assert loaded(code, *heavy) == set()
    assert loaded(f"{code}\nstudy.table('splits')\nstudy.subnetwork(1, 60, 0.4, 42)", *heavy) == {"pandas"}


def test_no_job_depends_on_the_door():
    files = code_files(ROOT / "workflow/scripts/finetune.py")
    assert PACKAGE / "common/atomic.py" in files and PACKAGE / "__init__.py" not in files


def test_every_table_is_there_under_its_name(study):
    wanted = {
        path.removeprefix("tables/").removesuffix(".parquet")
        for path in EXPERIMENT.list_members(STUDY)
        if "parquet" in path
    }
    assert wanted <= set(study.tables) and "predictions/ft1-step60" in study.tables
    pd.testing.assert_frame_equal(study.table("core"), read_table(study.folder / "tables/core.parquet"))


def test_columns_have_types_meanings_and_units(study):
    result = study.columns("accuracy")
    assert list(result.index) == list(SCHEMAS["accuracy"]) == list(study.table("accuracy"))
    assert list(result["meaning"]) == [meaning for _, meaning in SCHEMAS["accuracy"].values()]
    assert result.loc["accuracy", "type"] == "double" and "percent" in result.loc["accuracy", "meaning"]
    assert study.columns("table3")["meaning"].isna().all()


def test_subnetworks_are_those_of_the_study(study):
    paths = [path for path in EXPERIMENT.list_members(STUDY) if path.endswith("subnetwork.json")]
    assert len(study.subnetworks) == len(set(study.subnetworks)) == len(paths)
    for run in study.subnetworks:
        assert study.subnetwork(*run[3:]).identity == run


def test_a_second_run_is_another_subnetwork(made):
    study = heuristic_core.open_study(made)
    assert [run[3:] for run in study.subnetworks] == [(1, 60, 0.4, 42, 0), (1, 60, 0.4, 42, 1), (1, 60, 0.4, 43, 0)]
    assert study.subnetwork(1, 60, 0.4, 42).kept == (0, 2)
    assert study.subnetwork(1, 60, 0.4, 42, repeat=1).kept == (1, 2)


def test_a_failed_run_says_why_it_has_no_subnetwork(made):
    with raises(InputError, "seed43", 7):
        heuristic_core.open_study(made).subnetwork(1, 60, 0.4, 43)


@pytest.fixture(scope="module")
def evaluated(root):
    """Sentence pairs of the study's evaluation set, and the study's predictions for them at the last checkpoint."""
    sentences = read_table(root / "data/sentences/evaluation.parquet")
    return list(zip(sentences["sentence1"], sentences["sentence2"], strict=True)), root / "ft1/step60"


def agrees(predicted, pairs, table):
    """Asked again, a model gives the classes and the probabilities of the study's own table."""
    assert list(predicted[["sentence1", "sentence2"]].itertuples(index=False, name=None)) == pairs
    labels = list(predicted.columns[3:])
    assert labels == ["entailment", "neutral", "contradiction"]
    assert list(predicted["prediction"]) == [labels[number] for number in table["prediction"]]
    np.testing.assert_allclose(predicted[labels], softmax(np.stack(table["logits"]), axis=1), atol=1e-5)


def test_the_full_model_predicts_what_the_study_has(study, evaluated):
    pairs, folder = evaluated
    model = study.model()
    assert (model.run.ft_seed, model.run.step, model.removed) == (1, 60, ())
    agrees(model.predict(pairs), pairs, read_table(folder / "predictions.parquet"))


def test_a_subnetwork_predicts_what_the_study_has(study, evaluated):
    pairs, folder = evaluated
    model = study.model(1, 60, 0.4, 42)
    assert model.kept == json.loads((folder / "s0.4/seed42/subnetwork.json").read_text())["kept"]
    agrees(model.predict(pairs), pairs, read_table(folder / "s0.4/seed42/predictions.parquet"))


def test_without_a_head_the_model_predicts_what_the_study_has(study, evaluated):
    table = study.table("ablation_predictions")
    table = table[(table["ft_seed"] == 1) & (table["kind"] == "mean") & (table["ablation"] == "0.1")]
    agrees(study.ablate(["0.1"]).predict(evaluated[0]), evaluated[0], table)


def test_ablations_add_up(study):
    model = study.model(2, 30)
    assert model.ablate(["0.1"]).ablate(["mlp 1", "0.1"]) == model.ablate(["mlp 1", "0.1"])
    assert set(model.kept) - set(model.ablate(["mlp 1", "0.1"]).kept) == {"mlp 1", "0.1"} and model.removed == ()


def test_attention_is_what_the_study_has(study):
    table = study.table("attention_maps")
    table = table[(table["ft_seed"] == 1) & (table["pair"] == 0)].reset_index(drop=True)
    sentences = read_table(study.folder / "mini-bert/pairs/data/sentences/evaluation.parquet")
    first = sentences[sentences["group"] == "ood"].iloc[0]
    result = study.model().attention(first["sentence1"], first["sentence2"])
    assert list(result) == [name for name in table if name not in (*Identity._fields, "pair")]
    pd.testing.assert_frame_equal(result, table[list(result)], atol=1e-5)


def test_attention_without_components(study):
    """Heads that are gone have no rows; those after them see another input, and those of the same layer do not."""
    full, less = study.model().attention(*PAIR), study.ablate(["0.0", "0.1", "mlp 0"]).attention(*PAIR)
    assert list(less["name"].unique()) == ["0.2", "0.3", "1.0", "1.1", "1.2", "1.3"]
    np.testing.assert_allclose(less.groupby(["name", "query"])["probability"].sum(), 1, atol=1e-6)
    same, other = (
        [item.loc[item["name"] == name, "probability"].to_numpy() for item in (full, less)] for name in ("0.2", "1.0")
    )
    np.testing.assert_array_equal(*same)
    assert abs(other[0] - other[1]).max() > 1e-3


def test_unknown_words_are_told(study):
    model = study.model()
    with pytest.warns(UserWarning) as caught:
        model.predict([("the dog slept", "kings slept"), ("the kings slept", "kings slept")])
    (message,) = (str(item.message) for item in caught if item.category is UserWarning)
    assert mentions(message, "the", "dog") and not mentions(message, "kings")
    with warnings.catch_warnings(action="error"):
        model.predict([PAIR])


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda s: s.table("acuracy"), ("'acuracy'", "ablation_predictions", "accuracy")),
        (lambda s: s.columns("../study"), ("'../study'",)),
        (lambda s: s.subnetwork(3, 60, 0.4, 42), ("ft_seed", 3, 1, 2)),
        (lambda s: s.subnetwork(1, 60, 40, 42), ("ft_seed", 1, "step", 60, "sparsity", 40, 0.2, 0.4)),
        (lambda s: s.subnetwork(1, 30, 0.2, 44), ("seed", 44, 42, 43)),
        (lambda s: s.model(1, 60, 0.4), ("seed", None, 42, 43, 44)),
        (lambda s: s.model(1, 60, seed=42), ("sparsity", None, 0.2, 0.4)),
        (lambda s: s.model(2, 31), ("ft_seed", 2, "step", 31, 30, 60)),
        (lambda s: s.model(3), ("ft_seed", 3, 1, 2)),
        (lambda s: s.ablate(["2.0"]), ("'2.0'", "0.0", "1.3", "mlp 0", "mlp 1")),
        (lambda s: s.ablate([0.1]), (0.1,)),
        (lambda s: s.ablate("0.1"), ("components", "'0.1'", "['0.1']")),
        (lambda s: s.model().predict([]), ("pairs", "[]")),
        (lambda s: s.model().predict(PAIR), ("pairs", "'chefs saw kings'")),
        (lambda s: s.model().predict([(*PAIR, 1)]), ("pairs", "('chefs saw kings', 'kings saw chefs', 1)")),
        (lambda s: s.model().attention("chefs slept", 3), ("'chefs slept'",)),
    ],
)
def test_a_wrong_question_is_answered_by_what_there_is(study, ask, named):
    with raises(InputError, *named):
        ask(study)


def test_an_unpacked_archive_has_tables_and_subnetworks_and_no_models(study, tmp_path):
    export(study.folder, read_config(REDUCED), tmp_path / "reduced.crate.zip")
    with zipfile.ZipFile(tmp_path / "reduced.crate.zip") as file:
        file.extractall(tmp_path / "there")
    there = heuristic_core.open_study(tmp_path / "there")
    pd.testing.assert_frame_equal(there.table("accuracy"), study.table("accuracy"))
    assert [run[3:] for run in there.subnetworks] == [run[3:] for run in study.subnetworks]
    assert there.subnetwork(2, 60, 0.2, 43) == study.subnetwork(2, 60, 0.2, 43)
    assert there.checkpoints == []
    with raises(InputError, tmp_path / "there"):
        there.model()
    with raises(InputError, "reduced.crate.zip"):
        heuristic_core.open_study(tmp_path / "reduced.crate.zip")


def test_a_study_of_another_experiment_has_its_tables(tmp_path):
    folder = described(tmp_path / "sorting", {"experiment": "list-sorting"})
    write_table("sorting_stages", [], folder / "tables/sorting_stages.parquet")
    study = heuristic_core.open_study(folder)
    assert type(study) is Results and study.tables == ["sorting_stages"]
    assert study.columns("sorting_stages")["meaning"].notna().all() and len(study.table("sorting_stages")) == 0


def test_imported_results_have_tables_alone(tmp_path):
    study = heuristic_core.open_study(described(tmp_path / "published", None))
    with raises(InputError, "'accuracy'"):
        study.table("accuracy")
    with raises(InputError, tmp_path / "published"):
        study.model()


def test_a_folder_without_a_study_is_told(made, tmp_path):
    with raises(InputError, made.parent, "study.json", "made"):
        heuristic_core.open_study(made.parent)
    with raises(InputError, tmp_path, "study.json"):
        heuristic_core.open_study(tmp_path)
    with raises(InputError, tmp_path / "nowhere"):
        heuristic_core.open_study(tmp_path / "nowhere")
    with raises(ConfigError, "study.json", "experiment", "'else'"):
        heuristic_core.open_study(described(tmp_path / "other", {"experiment": "else"}))


def test_the_page_is_true_of_a_study(finished):
    """Its code runs on the reduced study, whose last step is another."""
    page = (ROOT / "docs/using.md").read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    code = code.replace("results/miniature", str(finished / "results/reduced")).replace("1800", "60")
    exec(compile(code, "using.md", "exec"), result := {})
    assert result["pruned"].removed == tuple(result["subnetwork"].list_removed(result["full"].grid))
    assert {"0.1", "1.1"} == set(result["full"].kept) - set(result["without"].kept)
