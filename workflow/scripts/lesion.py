"""Fine-tune a model without some of its heads, which stay out: those that attend to the repeated word before
fine-tuning, or as many random heads of the same layers. It keeps no checkpoints. Interrupted, it resumes."""

import logging

from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.training.lesions import NoLesion, lesioned
from heuristic_core.jobs.arguments import identity
from heuristic_core.jobs.finetuning_run import begun, finetune_to_files, parser_of
from heuristic_core.models.close_heads import close_heads
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows, write_table

LOGGER = logging.getLogger("heuristic_core.lesion")


def main(arguments=None):
    parser = parser_of(__doc__)
    parser.settings("analysis", Analysis)
    parser.add_argument("--lesion", required=True, metavar="NAME", help="overlap, random1, random2, ...")
    parser.reads(overlap_heads="which heads attend to the repeated word before fine-tuning (Parquet)")
    parser.writes(heads="where to write which heads were taken out (Parquet)")
    args = parser.read(arguments)
    rows, reason = read_rows(args.overlap_heads), None
    try:
        heads = lesioned(args.lesion, rows, args.analysis.seed, args.ft_seed)
    except NoLesion as none:
        heads, reason = [], str(none)
    about = {"lesion": args.lesion, "heads": heads, "size": len(heads), "reason": reason}
    columns = {name: getattr(identity(args), name) for name in ("study", "model", "task", "ft_seed")}
    if reason:
        LOGGER.warning("no model is fine-tuned without %s heads: %s", args.lesion, reason)
        write_table("finetune_trace", [], args.trace)
        write_table("finetune_predictions", [], args.predictions)
    else:
        model, _ = begun(args)
        close_heads(model, [(row["layer"], row["head"]) for row in rows if row["component"] in heads])
        finetune_to_files(args, model, [code_digest(__file__), str(heads)])
    write_table("lesions", [columns | about], args.heads)


if __name__ == "__main__":
    recorded(main)
