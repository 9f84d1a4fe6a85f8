"""When heads enter subnetworks."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis import entry as entry_analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import as_frame, concatenate, read_table, write_table


def find_entries(
    components: list[Input],
    pruned: list[Input],
    core: Input,
    finetuning: Input,
    context: StudyContext,
    entry_frequency: Output,
    entry: Output,
    counter_heads: Input | None = None,
) -> None:
    """Find when heads enter the subnetworks of one fine-tuning run.

    Args:
        components: Tables of components of the checkpoints (Parquet).
        pruned: Tables of pruning runs of the checkpoints (Parquet).
        core: The run's core (Parquet).
        finetuning: The full model's accuracy over fine-tuning (Parquet).
        context: A study's configuration file, or the context drawn from it as JSON.
        entry_frequency: Where to write how often heads are kept (Parquet).
        entry: Where to write when they enter (Parquet).
        counter_heads: Counter-heuristic heads (Parquet).
    """
    kept, runs = as_frame(concatenate("components", components)), as_frame(concatenate("runs", pruned))
    counter = read_table(counter_heads) if counter_heads else None
    frequency = entry_analysis.compute_entry_frequency(kept, runs, read_table(core), context, counter)
    write_table("entry_frequency", frequency, entry_frequency)
    write_table("entry", entry_analysis.compute_entry(frequency, read_table(finetuning), context), entry)
