"""Find stages of training by change points of loss, overlap and local learning coefficient, over seeds."""

from heuristic_core.experiments.list_sorting.config_llc import Stages
from heuristic_core.experiments.list_sorting.curves import curves_of
from heuristic_core.experiments.list_sorting.stage_tables import (
    by_seed,
    change_rows,
    fits_of,
    movement_rows,
    seed_stage_rows,
    stage_rows,
)
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.settings("stages", Stages)
    parser.reads(models="table sorting_models")
    parser.reads("?", llc="table sorting_llc")
    parser.writes(table="table of stages", seed_stages="the same of every model")
    parser.writes(changes="table of change points", movements="table of what curves do")
    args = parser.read(arguments)
    rows: dict[str, list[dict]] = {"stages": [], "seed_stages": [], "changes": [], "movements": []}
    llc = read_table(args.llc) if args.llc else None
    for (study, condition), models in read_table(args.models).groupby(["study", "condition"], sort=False):
        steps, curves = curves_of(models, llc if llc is None else llc[llc["condition"] == condition])
        fits = fits_of(steps, curves, args.stages)
        stages = by_seed(fits)
        tables = {
            "stages": stage_rows(steps, stages, args.stages),
            "seed_stages": seed_stage_rows(sorted(models["seed"].unique()), stages),
            "changes": change_rows(steps, fits, args.stages),
            "movements": movement_rows(steps, curves, stages, args.stages),
        }
        for name, condition_rows in tables.items():
            rows[name] += [{"study": study, "condition": condition} | row for row in condition_rows]
    for name, tables in rows.items():
        write_table(f"sorting_{name}", tables, args.table if name == "stages" else getattr(args, name))


if __name__ == "__main__":
    recorded(main)
