"""The heuristic core."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.core import compute_core
from heuristic_core.experiments.subnetworks.analysis.core import compute_core_null as core_null_rows
from heuristic_core.experiments.subnetworks.analysis.stable_core import compute_stable_core
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.pruning.subnetwork import load_run
from heuristic_core.tables.parquet import as_frame, as_table, write_table


def find_core(
    subnetworks: list[Input],
    analysis: Analysis,
    context: StudyContext,
    core: Output,
    core_null: Output,
    stable_core: Output,
) -> None:
    """Find the heads that all subnetworks of one fine-tuning run share, and whether they are more than by chance.

    Args:
        subnetworks: The subnetworks (JSON).
        analysis: Settings of the analysis.
        context: A study's configuration file, or the context drawn from it as JSON.
        core: Where to write the core (Parquet).
        core_null: Where to write its size against chance (Parquet).
        stable_core: Where to write how the stable core is selected (Parquet).
    """
    components = as_frame(as_table("components", [row for path in subnetworks for row in load_run(path).rows()]))
    test = components, context, analysis.permutations, analysis.seed
    write_table("core", compute_core(components, context), core)
    write_table("core_null", core_null_rows(*test), core_null)
    write_table("stable_core", compute_stable_core(*test), stable_core)
