"""One run of fine-tuning from files to files, as the scripts `finetune` and `lesion` do it; cut off, it resumes."""

import shutil
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import transformers
from torch import Tensor
from transformers.utils import logging as hugging_face_logging

from heuristic_core.common.errors import Diverged
from heuristic_core.common.hashing import file_digest
from heuristic_core.common.threads import use_threads
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import AnyModel
from heuristic_core.evaluation.evaluate import log_accuracies, predictions
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.jobs.scratch import scratch, set_aside
from heuristic_core.models.device import precision_on, usable_device
from heuristic_core.models.folder import local_files
from heuristic_core.models.pretrained import starting_point
from heuristic_core.tables.parquet import concatenate, write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.training.finetune import finetune


def parser_of(description: str) -> Arguments:
    """A parser of what every run takes."""
    parser = Arguments(description)
    parser.settings("model", AnyModel)
    parser.settings("finetune", Finetune)
    parser.identity("ft_seed")
    parser.reads(
        train="encoded training pairs",
        evaluation="encoded evaluation pairs",
        subsets="subsets and labels (JSON)",
        tokenizer="folder of the tokenizer",
    )
    parser.writes(
        trace="where to write losses (Parquet); unfinished work is beside it",
        predictions="where to write predictions of every evaluation (Parquet)",
    )
    parser.pretrained()
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    parser.device()
    return parser


def begun(args: Namespace):
    """The model that the run of `args` starts from, and its tokenizer, in a process made ready for it."""
    use_threads(args.threads)
    hugging_face_logging.disable_progress_bar()
    dropout = args.finetune.dropout
    return starting_point(args.model, args.tokenizer, args.subsets, args.ft_seed, dropout, args.device, args.pretrained)


def finetune_to_files(args: Namespace, model, about: Sequence[str], save: Callable[[Path], None] | None = None) -> None:
    """Fine-tune `model` as `args` say; write the tables `finetune_trace` and `finetune_predictions`, and checkpoints.

    about: what else the run depends on, such as the digest of its code; unfinished work of another is not gone on with.
    save: writes a checkpoint into a folder, for those at `args.checkpoints`; without it none are kept.
    Raises Diverged as :func:`heuristic_core.training.finetune.finetune` does; what it left is set aside.
    """
    run, kept = identity(args), dict(zip(args.finetune.checkpoints, args.checkpoints, strict=True)) if save else {}
    unfinished = scratch(Path(args.trace).with_name(".unfinished"), "\n".join([*_about(args), *about]))

    def keep(step: int) -> list[Path]:
        if step not in kept:
            return []
        folder = unfinished / f"step{step}"
        shutil.rmtree(folder, ignore_errors=True)  # a run that was killed here leaves temporary files
        save(folder)
        return [path for path in folder.rglob("*") if path.is_file()]

    train, evaluation = Encoded.load(args.train), Encoded.load(args.evaluation)

    def evaluated(step: int, logits: Tensor) -> list[Path]:
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
    for step, checkpoint in kept.items():
        shutil.rmtree(checkpoint, ignore_errors=True)
        Path(checkpoint).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(unfinished / f"step{step}", checkpoint)  # a copy: cut off here, the next run can do it again
    columns = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed")}
    write_table("finetune_trace", [{**columns, **row} for row in record.trace], args.trace)
    evaluations = [unfinished / f"evaluation{step}.parquet" for step in (0, *(row["step"] for row in record.trace))]
    write_table("finetune_predictions", concatenate("finetune_predictions", evaluations), args.predictions)
    shutil.rmtree(unfinished)


def _about(args: Namespace) -> list[str]:
    """What any run depends on."""
    settings = [args.model.model_dump_json(), args.finetune.model_dump_json(), str(identity(args)), str(args.threads)]
    read = [args.train, args.evaluation, args.subsets]
    read += [Path(args.pretrained) / "model.safetensors"] if args.pretrained else local_files(args.model)
    files, device = [file_digest(path) for path in read], usable_device(args.device)
    precisions = [precision_on(device, asked) for asked in (args.finetune.precision, args.precision)]
    return [*settings, args.device, *precisions, *files, torch.__version__, transformers.__version__]
