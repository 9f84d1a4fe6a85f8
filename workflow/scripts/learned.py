"""Fail where the full model has not learned the task, before it is pruned, unless the study does so despite chance."""

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.analysis.chance import ends, judged_files, why_it_ends
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(full="the full model's predictions", subsets="subsets and labels (JSON)")
    parser.writes(learned="an empty file, written where the study goes on")
    args = parser.read(arguments)
    row = judged_files(args.full, args.subsets, args.analysis)
    if ends(row) and not args.analysis.despite_chance:
        raise InputError(why_it_ends(row))
    write_text(args.learned, "")


if __name__ == "__main__":
    recorded(main)
