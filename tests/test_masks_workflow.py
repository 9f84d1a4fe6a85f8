"""Random masks and interpolation through the real workflow: results, and what a changed setting makes again."""

import pytest
import yaml
from mentions import mentions
from reduced import REDUCED, ROOT, RUNS, planned, snakemake

from heuristic_core.data.sampling import sample_subset
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.parquet import read_table

PARTS = ROOT / "tests" / "studies" / "masks.yaml"
TABLES = "results/reduced/tables"
MASKS = f"{RUNS}/ft1/mechanism/random_masks.parquet"
MID = f"{RUNS}/ft1/step60/s0.2"
DRAWN = ("figure_counter_heads", "figure_interpolation", "table_mask_fit")


@pytest.mark.slow
def test_random_masks_and_interpolation_of_a_small_study(tmp_path):
    config = [REDUCED, PARTS]
    snakemake(tmp_path, *DRAWN, config=config)
    heads, tests, between = (
        read_table(tmp_path / TABLES / f"{name}.parquet") for name in ("counter_heads", "mask_tests", "interpolation")
    )
    masks = read_table(tmp_path / MASKS)
    result = masks[masks["subset"].notna()]
    assert result[result["kind"] == "random"]["mask"].nunique() == 40
    assert set(result.loc[result["kind"] == "learned", "mask"]) == {42, 43, 44}
    assert set(result.groupby("group")["n"].max().to_dict().items()) == {("id", 30), ("ood", 5), ("ood-entailment", 5)}
    # What a learned subnetwork scores on the pairs drawn is what the workflow's own evaluation says.
    seed = 43
    predictions = read_table(tmp_path / f"{MID}/seed{seed}/predictions.parquet", without=["logits"])
    of_subnetwork = predictions[(predictions["subset"] == "ln_rel") & (predictions["seed"] == seed)]
    drawn = of_subnetwork.iloc[sample_subset(of_subnetwork["label"], "ln_rel", 5, Analysis().seed)]
    (row,) = result[
        (result["kind"] == "learned") & (result["mask"] == seed) & (result["subset"] == "ln_rel")
    ].itertuples()
    assert row.accuracy == pytest.approx(100 * drawn["correct"].mean())
    kept = Subnetwork.load(tmp_path / f"{MID}/seed{seed}/subnetwork.json").kept
    core = read_table(tmp_path / f"{RUNS}/ft1/core.parquet")
    assert {*row.heads, *row.mlps} == {*kept} - {*core.loc[core["in_core"], "component"]}
    assert set(heads["component"]) == {int(head) for members in result["heads"] for head in members}
    assert tests["reason"].isna().all() and {"H", "M"} <= set(between["role"])
    for name in ("figures/figure_counter_heads.png", "figures/figure_interpolation.png", "tables/table_mask_fit.csv"):
        assert (tmp_path / "results/reduced" / name).is_file()

    # Another number of resamples is no matter of models, nor is another sparsity of the grid.
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump({"mechanism": {"masks": {"bootstrap": 60}}}))
    jobs = planned(tmp_path, [*config, changed])
    assert "counter_heads" in jobs and not {"masks", "sound_subnetworks", "interpolation"} & jobs.keys()
    changed.write_text(yaml.safe_dump({"grid": {"sparsities": [0.2, 0.3, 0.4]}}))
    jobs = planned(tmp_path, [*config, changed])
    assert "gather" in jobs and not {"masks", "counter_heads", "sound_subnetworks", "interpolation"} & jobs.keys()

    # A run that failed has no part.
    cell = f"{MID}/seed44/subnetwork.json"
    (tmp_path / "results/reduced/provenance" / cell.removeprefix("results/reduced/")).with_suffix(".json.json").unlink()
    FailedRun(Subnetwork.load(tmp_path / cell).identity, "diverged by step 10: kl nan").save(tmp_path / cell)
    snakemake(tmp_path, "--", MASKS, f"{TABLES}/interpolation.parquet", config=config)
    masks = read_table(tmp_path / MASKS)
    assert set(masks.loc[masks["kind"] == "learned", "mask"]) == {42, 43}
    log = (tmp_path / "results/reduced/logs/mechanism/sound_subnetworks-ft1.log").read_text()
    assert any(mentions(line, 1, 3, "failed") for line in log.splitlines())
