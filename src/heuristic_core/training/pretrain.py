"""Pre-training of a new model by masked-language modelling, with periodic measurements."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import DivergenceError
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.generated import UnlabelledText
from heuristic_core.config.models import Pretraining
from heuristic_core.data.encode import encode
from heuristic_core.data.languages.registry import LANGUAGES
from heuristic_core.data.masking import find_shared_words, mask_tokens
from heuristic_core.data.pairs import get_sentences
from heuristic_core.models.batches import PairTensors
from heuristic_core.training.finetune import TrainingRun, learning_rate, resume_run, save_run
from heuristic_core.training.saved_state import digests
from heuristic_core.training.stepper import AdamWStepper

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

LOGGER = logging.getLogger(__name__)
ACCURACY_PAIRS, ATTENTION_PAIRS = 2000, 500  # pairs on which accuracy and attention are measured


class MaskedText(NamedTuple):
    """Pairs of sentences with masked words.

    Attributes:
        input_ids: Token ids with masks, int64 [B, T].
        original: Token ids without masks, int64 [B, T].
        types: Token types, int64 [B, T].
        attention_mask: bool [B, T], False on padding.
        prediction_mask: Words to predict, bool [B, T].
        copied: Words that also occur in the other sentence, bool [B, T].
    """

    input_ids: Tensor
    original: Tensor
    types: Tensor
    attention_mask: Tensor
    prediction_mask: Tensor
    copied: Tensor


class Corpus:
    """Unlabelled text of a language, generated and masked in batches that depend only on the seed and the step."""

    def __init__(self, settings: Pretraining, text: UnlabelledText, tokenizer, max_length: int):
        self._settings, self._generate = settings, partial(LANGUAGES[text.language].generate_unlabelled, text)
        self._tokenizer, self._max_length = tokenizer, max_length

    def batch(self, step: int) -> MaskedText:
        """Return the batch of step `step` (from 0)."""
        return self._text("step", step, self._settings.batch_size)

    def held_out(self) -> MaskedText:
        """Return pairs for measuring accuracy. Short ones can also occur in training batches."""
        return self._text("held out", 0, ACCURACY_PAIRS)

    def related(self) -> list[tuple[str, ...]]:
        """Return related pairs, or single sentences, for measuring attention, unmasked."""
        rows = self._generate(ATTENTION_PAIRS, 1.0, f"pre-training attention {self._settings.seed}")
        return [get_sentences(row) for row in rows]

    def _text(self, purpose: str, number: int, count: int) -> MaskedText:
        settings, tokenizer = self._settings, self._tokenizer
        rows = self._generate(count, settings.related, f"pre-training {purpose} {settings.seed} {number}")
        pairs = PairTensors(encode([row | UNLABELLED for row in rows], tokenizer, self._max_length))
        batch = pairs.batch(torch.arange(count))
        special, draws = tokenizer.all_special_ids, torch_generator(f"masking {purpose}", settings.seed, number)
        input_ids, prediction_mask = mask_tokens(
            batch.ids, special, tokenizer.mask_token_id, len(tokenizer), settings, draws
        )
        words = ~torch.isin(batch.ids, torch.tensor(special))
        return MaskedText(
            input_ids,
            batch.ids,
            batch.types,
            batch.mask(),
            prediction_mask,
            find_shared_words(batch.ids, batch.types, words),
        )


UNLABELLED = {"label": 0, "subset": "pre-training", "template": None}


class MaskedStepper(AdamWStepper):
    """Steps of masked-language modelling: a batch is a :class:`MaskedText`, which is one pass."""

    def _passes(self, batch: MaskedText) -> Iterable[None]:
        return [None]

    def _loss(self, batch: MaskedText, part: None) -> Tensor:
        return F.cross_entropy(predict_masked(self.model, batch), batch.original[batch.prediction_mask])


def predict_masked(model: "BertForMaskedLM", text: MaskedText) -> Tensor:
    """Compute logits over the vocabulary at the masked words.

    Args:
        model: A ``BertForMaskedLM``.
        text: Pairs with masked words.

    Returns:
        Logits [words to predict, vocabulary].
    """
    encoder = model.base_model
    hidden = encoder(input_ids=text.input_ids, attention_mask=text.attention_mask.long(), token_type_ids=text.types)
    return model.cls(hidden.last_hidden_state[text.prediction_mask])


@torch.no_grad()
def accuracies(model: "BertForMaskedLM", text: MaskedText) -> dict[str, float | None]:
    """Compute the percentage of masked words predicted correctly.

    Args:
        model: A ``BertForMaskedLM``.
        text: Pairs with masked words.

    Returns:
        By "copied", words that also occur in the other sentence, and "other"; None without such words.
    """
    correct = predict_masked(model, text).argmax(-1) == text.original[text.prediction_mask]
    copied = text.copied[text.prediction_mask]
    kinds = {"copied": correct[copied], "other": correct[~copied]}
    return {name: 100 * hits.double().mean().item() if len(hits) else None for name, hits in kinds.items()}


def pretrain(
    model: "BertForMaskedLM",
    corpus: Corpus,
    settings: Pretraining,
    save_measurement: Callable[[int], Iterable[Path]],
    state: Path,
) -> TrainingRun:
    """Train `model` in place; the run's trace has one row per measurement.

    Args:
        model: A ``BertForMaskedLM``.
        corpus: The pairs.
        settings: Block `model.pretraining` of the configuration.
        save_measurement: Called with the step at step 0, every ``settings.measure_every`` steps and at the end; returns
            the files that it wrote beside `state`.
        state: File of the run's state, as in :func:`heuristic_core.training.finetune.finetune`.

    Raises:
        DivergenceError: Loss or gradient is NaN or infinite; names the step.
    """
    stepper, held_out = MaskedStepper(model, settings), corpus.held_out()
    run = resume_run(state, model, stepper)
    progress = Progress("pretrain", settings.steps, run.step)

    def measure() -> None:
        model.eval()
        loss = sum(run.losses) / len(run.losses) if run.losses else None
        run.trace.append({"step": run.step, "loss": loss, **accuracies(model, held_out)})
        LOGGER.info("step %d: %s", run.step, {k: v if v is None else round(v, 2) for k, v in run.trace[-1].items()})
        run.losses.clear()
        run.files |= digests(state.parent, save_measurement(run.step))
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
        except DivergenceError as error:
            raise DivergenceError(
                f"pre-training diverged at step {run.step}: {error}. Lower model.pretraining.learning_rate, set "
                "model.pretraining.clip_norm or raise model.pretraining.warmup_steps"
            ) from None
        if run.step % settings.measure_every == 0 or run.step == settings.steps:
            measure()
        if run.step % settings.save_every == 0 and run.step < settings.steps:
            save_run(state, run, model, stepper)
        progress.update(run.step, loss=run.losses[-1] if run.losses else run.trace[-1]["loss"], lr=rate)
    return run
