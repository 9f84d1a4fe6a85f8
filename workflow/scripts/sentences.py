"""Generate or read the sentence pairs of a task."""

import json
from dataclasses import asdict

from heuristic_core.common.atomic import write_text
from heuristic_core.config.tasks import AnyTask
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table
from heuristic_core.tasks.counts import split_counts
from heuristic_core.tasks.sentences import sentences


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("task", AnyTask)
    parser.reads("?", fetched="list of what was downloaded, for the record")
    parser.reads("*", files="files that the task names, for the record")
    parser.writes(
        train="where to write training pairs (Parquet)",
        evaluation="where to write evaluation pairs (Parquet)",
        subsets="where to write their subsets (JSON)",
        splits="where to write how many rows were read, left out and used (Parquet)",
    )
    args = parser.read(arguments)
    pairs = sentences(args.task)
    write_table("sentences", pairs.train, args.train)
    write_table("sentences", pairs.evaluation, args.evaluation)
    write_table("splits", split_counts(pairs), args.splits)
    described = {"labels": pairs.labels, "subsets": [asdict(rule) for rule in pairs.subsets]}
    write_text(args.subsets, json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    recorded(main)
