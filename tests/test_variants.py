"""Other studies through the real workflow: runs that failed, other families, half precision."""

import shutil

import pytest
from families import make_model
from mentions import mentions
from reduced import REDUCED, RUNS, STUDY, planned, snakemake

from heuristic_core.experiments.subnetworks.analysis.outcomes import mark_faults
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.parquet import read_table


@pytest.mark.slow
def test_a_pruning_run_that_failed_is_a_missing_value_everywhere(finished, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, symlinks=True)
    cells = [
        f"{RUNS}/ft1/step60/s0.4/seed44",
        f"{RUNS}/ft1/step30/s0.4/seed43",
    ]  # of the spread; early and of the curve
    for cell in cells:
        identity = Subnetwork.load(folder / cell / "subnetwork.json").identity
        FailedRun(identity, "diverged by step 10: kl nan").save(folder / cell / "subnetwork.json")
        (
            folder / "results/reduced/provenance" / cell.removeprefix("results/reduced/") / "subnetwork.json.json"
        ).unlink()
    jobs = planned(folder, REDUCED)
    assert jobs["evaluate"] == jobs["gather"] == 2 and "prune" not in jobs
    snakemake(folder)
    tables = folder / "results/reduced/tables"
    assert all(read_table(folder / cell / "predictions.parquet").empty for cell in cells)
    for name in ("accuracy", "group_accuracy"):
        table, before = (read_table(place / f"results/reduced/tables/{name}.parquet") for place in (folder, finished))
        null = table[table["accuracy"].isna()]
        assert set(null["reason"]) == {"diverged by step 10: kl nan"} and len(table) == len(before)
        keys = ["ft_seed", "step", "seed"]
        assert sorted(set(null[keys].itertuples(index=False, name=None))) == [(1, 30, 43), (1, 60, 44)]
    failed = read_table(tables / "runs.parquet").dropna(subset="reason")
    assert set(failed.loc[failed["actual_sparsity"].isna(), "seed"]) == {43, 44}
    core = read_table(tables / "core.parquet")
    counts = core.groupby("ft_seed")[["n_mid", "n_high", "n_early"]].max()
    assert counts.to_numpy().tolist() == [[3, 2, 1], [3, 3, 2]]
    frequency = read_table(tables / "head_frequency.parquet").groupby(["ft_seed", "step", "sparsity"])["n"].max()
    assert (frequency[1, 60, 0.4], frequency[2, 60, 0.4], frequency[1, 30, 0.4]) == (2, 3, 1)
    runs = read_table(tables / "runs.parquet")
    cell = runs[(runs["ft_seed"] == 1) & (runs["step"] == 60) & (runs["sparsity"] == 0.4) & (runs["repeat"] == 0)]
    faulty = mark_faults(cell).any(axis="columns")
    assert len(cell) == 3 and faulty[cell["seed"] == 44].all()
    summary, controls = (read_table(tables / f"{name}.parquet") for name in ("summary", "controls"))
    sound = int((~faulty).sum())
    for table, counts in ((summary, {sound}), (controls[controls["control"] != "importance"], {sound} - {0})):
        here = table[(table["ft_seed"] == 1) & (table["sparsity"] == 0.4)]
        assert set(here["n"]) == counts and (here["left_out"] == faulty.sum()).all()
    report = (folder / "results/reduced/report.html").read_text()
    lines = report.splitlines()
    assert any(mentions(line, 1, 60, 0.4, 44, "diverged by step 10: kl nan") for line in lines)
    log = (folder / "results/reduced/logs/gather/ft1-step60.log").read_text()
    assert any(mentions(line, "failed", 1, 60, 0.4, 44) for line in log.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("case", ["llama", "distilbert"])
def test_a_model_of_another_family_goes_the_whole_way(changed, tmp_path, case):
    """From a folder through fine-tuning, means, pruning, evaluation and attention: one hooked and one fused family."""
    tokenizer = make_tokenizer(STUDY.model, STUDY.task)
    source = tmp_path / "source"
    make_model(case, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id).save_pretrained(source)
    tokenizer.save_pretrained(source)
    config = changed(model={"name": case, "source": "pretrained", "folder": str(source)}, finetune__seeds=[1])
    runs = f"results/reduced/{case}/pairs/ft1"
    cell = f"{runs}/step60/s0.4/seed42"
    snakemake(tmp_path, "--", f"{cell}/predictions.parquet", f"{runs}/attention.parquet", config=config)
    result = Subnetwork.load(tmp_path / cell / "subnetwork.json")
    assert (result.layers, result.heads, len(result.kept)) == (3, 4, 9)
    shares = read_table(tmp_path / runs / "attention.parquet")
    assert shares.groupby("component")["share"].sum().round(6).eq(1).all()
    loss = read_table(tmp_path / runs / "trace.parquet")["loss"]
    assert loss.iloc[-1] < loss.iloc[0]


@pytest.mark.slow
def test_a_study_in_float16_has_the_same_tables(changed, tmp_path):
    half = {
        "arithmetic": "native",
        "precision": "float16",
        "finetune__precision": "float16",
        "prune__precision": "float16",
    }
    config = changed(**half, finetune__seeds=[1])
    names = ("accuracy", "controls", "ablations", "runs")
    snakemake(tmp_path, "--", *(f"results/reduced/tables/{name}.parquet" for name in names), config=config)
    accuracy, _, ablations, runs = (
        read_table(tmp_path / "results" / "reduced" / "tables" / f"{name}.parquet") for name in names
    )
    assert accuracy["accuracy"].notna().all() and ablations["accuracy"].notna().all()
    assert runs["kl"].notna().all() and not runs["reason"].str.contains("diverged", na=False).any()
