"""Whether the full model has learned the task, from its predictions; fails where it has not."""

import json
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.analysis.chance import REMEDIES, ends, judged, sentence
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(full="the full model's predictions", subsets="subsets and labels (JSON)")
    parser.writes(table="where to write accuracy and chance")
    args = parser.read(arguments)
    described, a = json.loads(Path(args.subsets).read_text(encoding="utf-8")), args.analysis
    merges = {one["name"]: one["merge"] for one in described["subsets"]}
    row = judged(read_table(args.full, without=["logits"]), merges, described["labels"], a.subsets, a.class_rule)
    if ends(row) and not a.despite_chance:
        raise InputError(f"{sentence(row)}. {REMEDIES}")
    write_table("chance", [row], args.table)


if __name__ == "__main__":
    recorded(main)
