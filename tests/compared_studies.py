"""Three small studies, for tests of comparisons."""

from page_studies import make_study

from heuristic_core.experiments.subnetworks.report.sides import Side, load_side


def make_three(folder):
    """results/one (a fine-tuning run), results/other (a run, 7 points more), results/pair (two runs)."""
    make_study(folder / "results" / "one", (1,))
    make_study(folder / "results" / "other", (1,), 7.0, 6, "contradicted", "figure15")
    make_study(folder / "results" / "pair", (1, 2))
    for path in (folder / "results").glob("*/tables/components.parquet"):
        path.unlink()  # of fewer heads than their cores
    return folder


def side(folder, name, ft_seed=None):
    return load_side(Side(folder / "results" / name, ft_seed))
