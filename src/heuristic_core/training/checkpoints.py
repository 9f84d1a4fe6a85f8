"""Checkpoints of a model by fine-tuning, from files to files."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from heuristic_core.common.roles import Fields, Input, Output, Unfinished, require_same_length
from heuristic_core.config.blocks import Device, Finetune, PrecisionSetting
from heuristic_core.config.models import AnyModel
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import log_accuracies, make_predictions
from heuristic_core.models import pretrained as pretrained_models
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import concatenate, write_table
from heuristic_core.training.finetune import finetune as finetune_model


class FinetuningRun(NamedTuple):
    """One run of fine-tuning.

    Attributes:
        identity: Identity of the run.
        train: File of encoded training pairs.
        evaluation: File of encoded evaluation pairs.
        settings: Settings of fine-tuning.
        precision: Precision of evaluation.
        unfinished: Folder of the state from which it resumes.
    """

    identity: Identity
    train: str
    evaluation: str
    settings: Finetune
    precision: PrecisionSetting
    unfinished: Path

    def write(
        self,
        model: PreTrainedModel,
        trace: str,
        predictions: str,
        checkpoints: dict[int, str] | None = None,
        save: Callable[[Path], None] | None = None,
    ) -> None:
        """Fine-tune, and write the tables "finetune_trace" and "finetune_predictions", and checkpoints.

        Args:
            model: Model to fine-tune.
            trace: Where to write losses.
            predictions: Where to write predictions of every evaluation.
            checkpoints: Step -> folder of each checkpoint; none by default.
            save: Writes a checkpoint into a folder.

        Raises:
            DivergenceError: Training produced NaN or infinity.
        """
        folder, checkpoints = self.unfinished, checkpoints or {}

        def keep(step: int) -> list[Path]:
            if step not in checkpoints:
                return []
            partial = folder / f"step{step}"
            shutil.rmtree(partial, ignore_errors=True)  # a run that was killed here leaves temporary files
            save(partial)
            return [path for path in partial.rglob("*") if path.is_file()]

        train, evaluation = Encoded.load(self.train), Encoded.load(self.evaluation)

        def evaluate(step: int, logits: Tensor) -> list[Path]:
            columns = make_predictions(logits.numpy(), evaluation)
            log_accuracies(step, columns)
            columns |= self.identity._replace(step=step).as_columns(len(evaluation), "step")
            path = folder / f"evaluation{step}.parquet"
            write_table("finetune_predictions", columns, path)
            return [path]

        seed, state = self.identity.ft_seed, folder / "state.safetensors"
        record = finetune_model(model, train, evaluation, self.settings, seed, keep, evaluate, state, self.precision)
        for step, checkpoint in checkpoints.items():
            shutil.rmtree(checkpoint, ignore_errors=True)
            Path(checkpoint).parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(folder / f"step{step}", checkpoint)  # a copy: cut off here, the next run can do it again
        columns = {name: getattr(self.identity, name) for name in ("study", "model", "task", "ft_seed")}
        write_table("finetune_trace", [{**columns, **row} for row in record.trace], trace)
        evaluations = [folder / f"evaluation{step}.parquet" for step in (0, *(row["step"] for row in record.trace))]
        write_table("finetune_predictions", concatenate("finetune_predictions", evaluations), predictions)


def load_initial_model(
    model: AnyModel,
    tokenizer: str,
    subsets: str,
    seed: int,
    dropout: float | None,
    device: Device,
    pretrained: str | None,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load the model that a run of fine-tuning starts from, and its tokenizer, without Hugging Face's progress bar.

    Args:
        model: The model's configuration.
        tokenizer: Folder of the tokenizer.
        subsets: JSON file of subsets and labels.
        seed: Fine-tuning seed.
        dropout: Replaces the model's dropout rates; None keeps them.
        device: Device of the model.
        pretrained: Folder of the pre-trained model, for a new model that is pre-trained first; else None.
    """
    return pretrained_models.load_initial_model(model, tokenizer, subsets, seed, dropout, device, pretrained)


def finetune_checkpoints(
    train: Input,
    evaluation: Input,
    subsets: Input,
    tokenizer: Input,
    model: AnyModel,
    finetune: Finetune,
    run: Annotated[Identity, Fields("ft_seed")],
    trace: Output,
    predictions: Output,
    checkpoints: list[Output],
    unfinished: Unfinished,
    fetched: Input | None = None,
    model_files: list[Input] = (),
    pretrained: Input | None = None,
    threads: int = 1,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Fine-tune a model and keep checkpoints.

    Args:
        train: Encoded training pairs (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        subsets: Subsets and labels (JSON).
        tokenizer: Folder of the tokenizer.
        model: Block of the configuration.
        finetune: Settings of fine-tuning.
        run: Identity of the run.
        trace: Where to write losses (Parquet).
        predictions: Where to write predictions of every evaluation (Parquet).
        checkpoints: Folders in which to save the model, one for each of finetune.checkpoints.
        unfinished: Folder of the state from which the job resumes.
        fetched: List of what was downloaded, for the record.
        model_files: Files of the model, where its block names a folder, for the record.
        pretrained: Folder of the model, where its block has `pretraining`.
        threads: CPU threads.
        device: Device of the model.
        precision: Precision of evaluation.
    """
    require_same_length(**{"finetune.checkpoints": finetune.checkpoints, "checkpoints": checkpoints})
    initial, made = load_initial_model(model, tokenizer, subsets, run.ft_seed, finetune.dropout, device, pretrained)

    def save(folder: Path) -> None:
        initial.save_pretrained(folder)
        made.save_pretrained(folder)

    folders = dict(zip(finetune.checkpoints, checkpoints, strict=True))
    finetuning = FinetuningRun(run, train, evaluation, finetune, precision, unfinished)
    finetuning.write(initial, trace, predictions, folders, save)
