"""Fine-tune a model and keep checkpoints. Interrupted, it resumes from its last saved state."""

import json
import shutil
from pathlib import Path

import torch
import transformers
from transformers.utils import logging as hugging_face_logging

from heuristic_core.arguments import Arguments, identity
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import AnyModel
from heuristic_core.errors import Diverged
from heuristic_core.evaluate import log_accuracies, predictions
from heuristic_core.finetune import finetune
from heuristic_core.models.load import usable_device
from heuristic_core.models.loading import load_tokenizer
from heuristic_core.models.pretrained import starting_model
from heuristic_core.provenance import code_digest, file_digest
from heuristic_core.record import recorded
from heuristic_core.scratch import scratch, set_aside
from heuristic_core.tables import concatenate, write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.threads import use_threads


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.settings("finetune", Finetune)
    parser.identity("ft_seed")
    parser.files(
        train="encoded training pairs",
        evaluation="encoded evaluation pairs",
        subsets="subsets and labels (JSON)",
        tokenizer="folder of the tokenizer",
        folder="where to write step<N>/checkpoint for every kept step N",
        trace="where to write losses (Parquet)",
        predictions="where to write predictions of every evaluation (Parquet)",
    )
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    parser.device()
    args = parser.read(arguments)
    use_threads(args.threads)
    hugging_face_logging.disable_progress_bar()
    run = identity(args)
    tokenizer = load_tokenizer(args.tokenizer)
    labels = json.loads(Path(args.subsets).read_text())["labels"]
    pad = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    model = starting_model(args.model, labels, len(tokenizer), pad, run.ft_seed, args.finetune.dropout)
    model = model.to(usable_device(args.device))
    inputs = [args.model.model_dump_json(), args.finetune.model_dump_json(), str(run), str(args.threads)]
    inputs += [args.device, args.precision]
    inputs += [file_digest(path) for path in (args.train, args.evaluation, args.subsets)]
    inputs += [code_digest(__file__), torch.__version__, transformers.__version__]
    unfinished = scratch(Path(args.folder) / ".unfinished", "\n".join(inputs))

    def keep(step: int) -> list[Path]:
        folder = unfinished / f"step{step}"
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return [path for path in folder.rglob("*") if path.is_file()]

    train, evaluation = Encoded.load(args.train), Encoded.load(args.evaluation)

    def evaluated(step: int, logits: torch.Tensor) -> list[Path]:
        columns = predictions(logits.numpy(), evaluation)
        log_accuracies(step, columns)
        columns |= run._replace(step=step).columns(len(evaluation), "step")
        path = unfinished / f"evaluation{step}.parquet"
        write_table("finetune_predictions", columns, path)
        return [path]

    state = unfinished / "state.safetensors"
    try:
        record = finetune(model, train, evaluation, args.finetune, run.ft_seed, keep, evaluated, state, args.precision)
    except Diverged as fault:
        raise Diverged(f"{fault}. Its checkpoints and evaluations: {set_aside(unfinished, 'diverged')}") from None
    for step in args.finetune.checkpoints:
        checkpoint = Path(args.folder) / f"step{step}" / "checkpoint"
        shutil.rmtree(checkpoint, ignore_errors=True)
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(unfinished / f"step{step}", checkpoint)  # a copy: cut off here, the next run can do it again
    columns = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed")}
    write_table("finetune_trace", [{**columns, **row} for row in record.trace], args.trace)
    evaluations = [unfinished / f"evaluation{step}.parquet" for step in (0, *(row["step"] for row in record.trace))]
    write_table("finetune_predictions", concatenate("finetune_predictions", evaluations), args.predictions)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    recorded(main)
