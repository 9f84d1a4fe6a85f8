"""Bring the authors' published results of one task into the tables of a study."""

import json
import logging
from collections import Counter

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.experiments.heuristic_core.published import tables
from heuristic_core.experiments.heuristic_core.published.paws import PAWS
from heuristic_core.experiments.heuristic_core.published.study import Published, paper, studies
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table

LOGGER = logging.getLogger("heuristic_core.published")
TABLES = ("accuracy", "finetune_accuracy", "actual_sparsity")
PRINTED = ("ablations", "core_null")  # from the paper itself


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--task", required=True, help="mnli or qqp")
    parser.add_argument("--groups", type=json.loads, default={}, metavar="JSON", help="name of a subset -> its group")
    parser.places(folder="the authors' result files")
    parser.reads("*", files="those of the task, for the record")
    parser.writes("?", ablations="where to write those that the paper prints, of mnli")
    parser.writes("?", core_null="where to write the size of the core that the paper prints, of mnli")
    parser.writes(study="where to write what is known of the study (JSON)")
    parser.writes(**{table: f"where to write {table}" for table in TABLES})
    args = parser.read(arguments)
    study = next((one for one in studies(args.folder, args.groups) if one.task == args.task), None)
    if study is None:
        raise InputError(f"{args.folder}: no files of task {args.task!r}")
    tell(study)
    for table in TABLES:
        write_table(table, getattr(tables, table)(study), getattr(args, table))
    for table in PRINTED:
        if path := getattr(args, table):
            write_table(table, getattr(tables, table)(study), path)
    write_text(args.study, json.dumps(about(study), indent=2) + "\n")


def tell(study: Published) -> None:
    """What was taken for what, and what failed, into the log."""
    for name, one in study.subsets.items():
        means = ", in group means" if one.subset in study.analysis.subsets else ""
        LOGGER.info("%s is %s, %s%s", name, one.subset, one.group, means)
    if PAWS.rest in study.subsets:
        LOGGER.info("%s is in the place of %s: %s", PAWS.rest, PAWS.whole, PAWS.derivation)
    missing = [row for row in tables.accuracy(study) if row["accuracy"] is None]
    run = "step {step}, sparsity {sparsity:g}, seed {seed}, repeat {repeat}: {reason}".format
    for where, count in Counter(run(**row) for row in missing).items():
        LOGGER.info("missing: %s, %d subsets", where, count)


def about(study: Published) -> dict:
    """The study's context, and where its numbers come from."""
    settings = {
        "files": {path.name: file_digest(path) for path in study.files.paths},
        "subsets": {name: one._asdict() for name, one in study.subsets.items()},
        "derived": {PAWS.rest: PAWS.derivation} if PAWS.rest in study.subsets else {},
        "core_heads": paper(study.task).get("core_heads"),
        "analysis": study.analysis.model_dump(mode="json"),
    }
    return {"context": study.context.model_dump(mode="json"), "settings": settings}


if __name__ == "__main__":
    recorded(main)
