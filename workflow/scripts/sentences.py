"""Generate or read the sentence pairs of a task."""

import json
from dataclasses import asdict

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.config.demands import Demands
from heuristic_core.config.tasks import AnyTask
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table
from heuristic_core.tasks.counts import log_counts, row_counts, unmet
from heuristic_core.tasks.sentences import sentences


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("task", AnyTask)
    parser.add_argument("--demands", type=json.loads, default={}, help="of the study, which its pairs must meet, JSON")
    parser.reads("?", fetched="list of what was downloaded, for the record")
    parser.reads("*", files="files that the task names, for the record")
    parser.writes(
        train="where to write training pairs (Parquet)",
        evaluation="where to write evaluation pairs (Parquet)",
        subsets="where to write their subsets (JSON)",
        counts="where to write what became of all rows (JSON)",
    )
    args = parser.read(arguments)
    pairs = sentences(args.task)
    counts = row_counts(pairs)
    log_counts(pairs, counts)
    if messages := unmet(pairs, Demands(**args.demands)):
        raise InputError("\n".join(messages))
    write_table("sentences", pairs.train, args.train)
    write_table("sentences", pairs.evaluation, args.evaluation)
    write_text(args.counts, json.dumps(counts, indent=1) + "\n")
    described = {"labels": pairs.labels, "subsets": [asdict(rule) for rule in pairs.subsets]}
    write_text(args.subsets, json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    recorded(main)
