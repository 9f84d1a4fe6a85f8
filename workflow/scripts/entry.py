"""When heads enter the subnetworks of one fine-tuning run."""

from heuristic_core.experiments.heuristic_core.analysis.entry import entry, entry_frequency
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import as_frame, concatenate, read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.context()
    parser.reads("+", components="tables of components of the checkpoints", pruned="tables of runs of the checkpoints")
    parser.reads(core="the run's core", finetuning="the full model's accuracy over fine-tuning")
    parser.reads("?", counter_heads="heads that help against the heuristic")
    parser.writes(
        entry_frequency="where to write how often heads are kept",
        entry="where to write when they enter",
    )
    args = parser.read(arguments)
    components, runs = as_frame(concatenate("components", args.components)), as_frame(concatenate("runs", args.pruned))
    counter = None
    if args.counter_heads:
        counter = read_table(args.counter_heads)
    frequency = entry_frequency(components, runs, read_table(args.core), args.context, counter)
    write_table("entry_frequency", frequency, args.entry_frequency)
    write_table("entry", entry(frequency, read_table(args.finetuning), args.context), args.entry)


if __name__ == "__main__":
    recorded(main)
