"""Pre-training of a new model by masked-language modelling, with what its heads attend to measured in passing."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import Diverged
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.models import Pretraining
from heuristic_core.models.batches import PairTensors
from heuristic_core.tasks.encode import encode
from heuristic_core.tasks.masking import in_both_sentences, masked
from heuristic_core.tasks.unlabelled import unlabelled_pairs
from heuristic_core.training.finetune import TrainingRun, learning_rate, resumed, save
from heuristic_core.training.saved import digests
from heuristic_core.training.stepper import AdamWStepper

LOGGER = logging.getLogger(__name__)
HELD_OUT, ATTENDED = 2000, 500  # pairs on which restoring, and attention, are measured


class Text(NamedTuple):
    """Pairs of sentences with some words masked. seen, original: int64 [B, T]. types, real: [B, T].

    chosen: bool [B, T], the words to restore. copied: bool [B, T], words that are in the other sentence, too.
    """

    seen: Tensor
    original: Tensor
    types: Tensor
    real: Tensor
    chosen: Tensor
    copied: Tensor


class Corpus:
    """Unlabelled pairs, generated and masked batch by batch: batch `step` depends on the seed and `step` alone."""

    def __init__(self, settings: Pretraining, tokenizer, max_length: int):
        self._settings, self._tokenizer, self._max_length = settings, tokenizer, max_length

    def batch(self, step: int) -> Text:
        """What step `step` (from 0) learns from."""
        return self._text("step", step, self._settings.batch_size)

    def held_out(self) -> Text:
        """Pairs to measure restoring on. Short ones may have been learned from, too."""
        return self._text("held out", 0, HELD_OUT)

    def related(self) -> list[tuple[str, str]]:
        """Related pairs to measure attention on, unmasked."""
        rows = unlabelled_pairs(ATTENDED, 1.0, f"pre-training attention {self._settings.seed}")
        return [(row["sentence1"], row["sentence2"]) for row in rows]

    def _text(self, purpose: str, number: int, count: int) -> Text:
        settings, tokenizer = self._settings, self._tokenizer
        rows = unlabelled_pairs(count, settings.related, f"pre-training {purpose} {settings.seed} {number}")
        pairs = PairTensors(encode([row | UNLABELLED for row in rows], tokenizer, self._max_length))
        batch = pairs.batch(torch.arange(count))
        special, draws = tokenizer.all_special_ids, torch_generator(f"masking {purpose}", settings.seed, number)
        seen, chosen = masked(batch.ids, special, tokenizer.mask_token_id, len(tokenizer), settings, draws)
        words = ~torch.isin(batch.ids, torch.tensor(special))
        return Text(
            seen, batch.ids, batch.types, batch.mask(), chosen, in_both_sentences(batch.ids, batch.types, words)
        )


UNLABELLED = {"label": 0, "subset": "pre-training", "template": None}


class MaskedStepper(AdamWStepper):
    """Steps of masked-language modelling: a batch is a :class:`Text`, which goes through the model at once."""

    def _passes(self, batch: Text) -> Iterable[None]:
        return [None]

    def _loss(self, batch: Text, part: None) -> Tensor:
        return F.cross_entropy(restored(self.model, batch), batch.original[batch.chosen])


def restored(model, text: Text) -> Tensor:
    """Logits over the vocabulary at the chosen words only, [chosen, vocabulary]."""
    encoder = model.base_model
    hidden = encoder(input_ids=text.seen, attention_mask=text.real.long(), token_type_ids=text.types)
    return model.cls(hidden.last_hidden_state[text.chosen])


@torch.no_grad()
def accuracies(model, text: Text) -> dict[str, float | None]:
    """Percent of chosen words restored: those that are in the other sentence, too, and the others; None of none."""
    right = restored(model, text).argmax(-1) == text.original[text.chosen]
    copied = text.copied[text.chosen]
    kinds = {"copied": right[copied], "other": right[~copied]}
    return {name: 100 * of.double().mean().item() if len(of) else None for name, of in kinds.items()}


def pretrain(
    model, corpus: Corpus, settings: Pretraining, measured: Callable[[int], Iterable[Path]], state: Path
) -> TrainingRun:
    """Train `model` (a Hugging Face ``BertForMaskedLM``) in place. The run's trace has a row per measurement.

    measured: called with the step at step 0, every ``settings.measure_every`` steps and at the end; gives the files it
    wrote beside `state`, in which the run is saved as in :func:`heuristic_core.training.finetune.finetune`.
    Raises Diverged, naming the step, where loss or gradient are no longer finite.
    """
    stepper, held_out = MaskedStepper(model, settings), corpus.held_out()
    run = resumed(state, model, stepper)
    progress = Progress("pretrain", settings.steps, run.step)

    def measure() -> None:
        model.eval()
        loss = sum(run.losses) / len(run.losses) if run.losses else None
        run.trace.append({"step": run.step, "loss": loss, **accuracies(model, held_out)})
        LOGGER.info("step %d: %s", run.step, {k: v if v is None else round(v, 2) for k, v in run.trace[-1].items()})
        run.losses.clear()
        run.files |= digests(state.parent, measured(run.step))
        model.train()

    if run.step == 0:
        measure()
    model.train()
    while run.step < settings.steps:
        rate = learning_rate(run.step, settings)
        batch = corpus.batch(run.step)
        run.step += 1
        try:
            run.losses.append(stepper.step(batch, rate))
        except Diverged as fault:
            raise Diverged(
                f"pre-training diverged at step {run.step}: {fault}. Lower model.pretraining.learning_rate, or set "
                "clip_norm or more warmup_steps there"
            ) from None
        if run.step % settings.measure_every == 0 or run.step == settings.steps:
            measure()
        if run.step % settings.save_every == 0 and run.step < settings.steps:
            save(state, run, model, stepper)
        progress.at(run.step, loss=run.losses[-1] if run.losses else run.trace[-1]["loss"], lr=rate)
    return run
