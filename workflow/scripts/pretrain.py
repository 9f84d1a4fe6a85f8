"""Pre-train a new model on unlabelled pairs. Interrupted, it resumes from its last saved state."""

import shutil
from pathlib import Path

import torch
import transformers
from transformers.utils import logging as hugging_face_logging

from heuristic_core.common.errors import Diverged, InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.common.threads import use_threads
from heuristic_core.config.models import AnyModel
from heuristic_core.evaluation.attention import share_rows
from heuristic_core.experiments.heuristic_core.tables.schemas import SCHEMAS
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.jobs.scratch import scratch, set_aside
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.models.implementation import view_of
from heuristic_core.models.pretrained import masked_language_model
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import concatenate, write_table
from heuristic_core.tasks.words import word_pairs
from heuristic_core.training.pretrain import Corpus, pretrain


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.identity()
    parser.add_argument("--max-length", type=int, required=True, metavar="N", help="tokens beyond which a pair is cut")
    parser.reads(tokenizer="folder of the tokenizer")
    parser.writes(
        checkpoint="folder in which to save the model",
        trace="where to write losses and accuracies (Parquet)",
        attention="where to write attention shares (Parquet)",
    )
    args = parser.read(arguments)
    settings = getattr(args.model, "pretraining", None)
    if settings is None:
        raise InputError(
            f"model {args.model.name}: its block has no `pretraining`; only what is new is pre-trained here"
        )
    use_threads(settings.threads)
    hugging_face_logging.disable_progress_bar()
    tokenizer = load_tokenizer(args.tokenizer)
    corpus = Corpus(settings, tokenizer, args.max_length)
    words = word_pairs(args.tokenizer, corpus.related(), args.max_length)
    known = {"study": args.study, "model": args.model_name, "task": args.task_name}
    inputs = [args.model.model_dump_json(), str(args.max_length), str(known)]
    inputs += [file_digest(Path(args.tokenizer) / "tokenizer.json")]
    inputs += [code_digest(__file__), torch.__version__, transformers.__version__]
    unfinished = scratch(Path(args.checkpoint).parent / ".unfinished", "\n".join(inputs))
    model = masked_language_model(args.model, len(tokenizer))

    def measured(step: int) -> list[Path]:
        path = unfinished / f"attention{step}.parquet"
        shares = share_rows(Identity(**known, ft_seed=0), view_of(model), words)
        rows = [{**row, "pretraining_step": step} for row in shares]
        rows = [{name: row[name] for name in SCHEMAS["pretraining_attention"]} for row in rows]
        write_table("pretraining_attention", rows, path)
        return [path]

    try:
        record = pretrain(model, corpus, settings, measured, unfinished / "state.safetensors")
    except Diverged as fault:
        raise Diverged(f"{fault}. What it left: {set_aside(unfinished, 'diverged')}") from None
    shutil.rmtree(args.checkpoint, ignore_errors=True)
    model.save_pretrained(args.checkpoint)
    tokenizer.save_pretrained(args.checkpoint)
    trace = [known | {"pretraining_step": row.pop("step")} | row for row in map(dict, record.trace)]
    write_table("pretraining_trace", trace, args.trace)
    parts = [unfinished / f"attention{row['step']}.parquet" for row in record.trace]
    write_table("pretraining_attention", concatenate("pretraining_attention", parts), args.attention)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    recorded(main)
