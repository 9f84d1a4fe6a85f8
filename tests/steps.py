"""A few real steps of every job that runs a model, on the miniature and through the project's own functions.

What they give is compared between processors, and which operations they use with the list of those that are verified.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

import torch
from extractive_steps import extractive
from torch import Tensor

from heuristic_core.config.blocks import Finetune
from heuristic_core.data.encode import encode
from heuristic_core.data.languages.overlap.counterparts import build_minimal_pairs
from heuristic_core.data.languages.overlap.generation import LABELS
from heuristic_core.data.minimal_pairs import SWAP_SUBSET, select_paired
from heuristic_core.data.sentences import load_sentences
from heuristic_core.data.words import encode_word_pairs
from heuristic_core.experiments.list_sorting import config as list_sorting
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.config_llc import Langevin, LocalLearning
from heuristic_core.experiments.list_sorting.config_prune import HalfGates, PruneRuns
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.halves import compute_corners, compute_half_means
from heuristic_core.experiments.list_sorting.llc import estimate_llc
from heuristic_core.experiments.list_sorting.measuring import Sample, measure_checkpoint
from heuristic_core.experiments.list_sorting.model import compute_losses
from heuristic_core.experiments.list_sorting.pruning import mask_rows, subset_rows
from heuristic_core.experiments.list_sorting.training import train
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.interventions.attention import map_table, overlap_rows, share_rows
from heuristic_core.interventions.evaluate import all_logits, draw_donors, make_predictions, subnetwork_logits
from heuristic_core.interventions.mediation import mediated_logits
from heuristic_core.interventions.path_patching import donor_from_pairs, path_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.close_heads import close_heads
from heuristic_core.models.folder import resolve_folder
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.interventions import mean_source
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.pretrained import build_classifier, build_masked_language_model
from heuristic_core.pruning.discretise import discretise
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.importance import gate_gradients, normalise_by_layer
from heuristic_core.pruning.inputs import make_pruning_inputs
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.prune import prune
from heuristic_core.tables.identity import Identity
from heuristic_core.training import pretrain as pretraining
from heuristic_core.training.finetune import finetune

ROOT = Path(__file__).parent.parent
STUDY, MADE = load_study(ROOT / "config.yaml"), load_study(ROOT / "config" / "miniature-pretrain.yaml")
TASK = STUDY.task.model_copy(update={"train_pairs": 120, "id_pairs": 6, "pairs_per_subcase": 1})
FEW = {"warmup_steps": 1, "batch_size": 16}  # an emulated processor takes long for more
FINETUNE = STUDY.finetune.model_copy(update={"steps": 2, "checkpoints": [2], "evaluate_every": 2} | FEW)
PRUNE = STUDY.prune.model_copy(update={"rise": 3, "hold": 2, "warmup_steps": 1, "examples": 60, "held_out": 20})
ONE_STEP = FINETUNE.model_copy(update={"steps": 1, "checkpoints": [1], "evaluate_every": 1})
PRETRAINING = MADE.pretraining.model_copy(update={"steps": 1, "measure_every": 1} | FEW)
HELD_OUT = 20  # pairs on which pre-training is measured
LESION = [(0, 1), (2, 5)]
CLOSED = (1, 9)  # components
RUN = Identity("s", "m", "t", 1)
WALK = Langevin(step_size=1e-2, localisation=100.0)


class Steps:
    """The jobs; each gives its results by name, and runs those before it whose results it reads. folder: for states.

    predictions: on the evaluation pairs, by what takes the place of removed components, and the full model's.
    """

    def __init__(self, folder: Path):
        self._folder, self._checkpoint = folder, resolve_folder(STUDY.model)
        made, self._tokenizer = load_sentences(TASK), load_tokenizer(self._checkpoint)
        self._train = encode(made.train, self._tokenizer, TASK.max_length)
        self._evaluation = encode(made.evaluation, self._tokenizer, TASK.max_length, made.subsets)
        self._minimal = build_minimal_pairs(made.evaluation, self._evaluation, self._tokenizer, TASK.max_length)
        texts = [(row["sentence1"], row["sentence2"]) for row in made.evaluation]
        self._words = encode_word_pairs(self._checkpoint, texts[:6], TASK.max_length)

    def pretraining(self) -> dict[str, Tensor]:
        """A step from the first weights, measured before and after."""
        model = build_masked_language_model(MADE.model, len(self._tokenizer))
        corpus = pretraining.Corpus(PRETRAINING, TASK.text, self._tokenizer, TASK.max_length)
        shares = []

        def measured(step: int) -> list[Path]:
            shares.extend(row["share"] for row in share_rows(RUN, wrap_model(model), self._words))
            return []

        with patch.object(pretraining, "ACCURACY_PAIRS", HELD_OUT):
            run = pretraining.pretrain(model, corpus, PRETRAINING, measured, self._folder / "pretraining")
        return _weights(model) | {"attention": _numbers(shares), "loss": _numbers([run.trace[-1]["loss"]])}

    def finetuning(self) -> dict[str, Tensor]:
        """Two steps from the shipped checkpoint, evaluated before and after; its heads' overlap before."""
        model = self._start()
        overlap = overlap_rows(RUN, wrap_model(model.eval()), self._words, STUDY.analysis.overlap_times_uniform)
        logits = self._finetune(model, "finetuning", FINETUNE)
        self._model = wrap_model(model.eval())
        overlap = {name: _numbers([row[name] for row in overlap]) for name in ("share", "uniform")}
        return _weights(model) | {f"logits {step}": values for step, values in logits.items()} | overlap

    def lesion(self) -> dict[str, Tensor]:
        """A step with two heads closed."""
        model = self._start()
        close_heads(model, LESION)
        self._finetune(model, "lesion", ONE_STEP)
        return _weights(model)

    @cached_property
    def _model(self):
        """The fine-tuned model, for the jobs that read it."""
        self.finetuning()
        return self.__dict__["_model"]

    @cached_property
    def _means(self):
        sample = PairTensors(self._train, self._model.pad)
        return component_means(self._model, sample, sample.split_by_length(BATCH_TOKENS["cpu"]))

    @cached_property
    def _logits(self) -> Tensor:
        used = self._train.head(PRUNE.examples + PRUNE.held_out)
        return all_logits(self._model, PairTensors(used, self._model.pad))

    @cached_property
    def _kept(self) -> Sequence[int]:
        """The components of the last subnetwork that pruning finds."""
        self.pruning()
        return self.__dict__["_kept"]

    def full_model(self) -> dict[str, Tensor]:
        """Component means and logits of the fine-tuned model, as every pruning run of it needs them."""
        return {"heads": self._means.heads, "mlps": self._means.mlps, "logits": self._logits}

    def pruning(self) -> dict[str, Tensor]:
        """A pass of two seeds, one of them with heads closed, discretised in both ways."""
        settings = PRUNE.model_copy(update={"discretise": "threshold"})
        inputs, held_out = make_pruning_inputs(self._model, self._means, self._train, self._logits, settings)
        closed = ((), CLOSED)
        runs = [PruningRun(STUDY.grid.mid, *item) for item in zip(STUDY.grid.seeds, closed, strict=False)]
        result = {}
        for item in prune(inputs, runs, settings, self._folder / "pruning", record_every=1):
            assert item.failure is None
            seed = f"seed {item.run.seed}"
            result[f"{seed} log_alpha"] = item.log_alpha
            result[f"{seed} trace"] = _numbers(value for row in item.trace for value in row.values())
            for rule in ("exact", "threshold"):
                chosen = settings.model_copy(update={"discretise": rule})
                kept = discretise(item.log_alpha, self._model.grid, item.run.sparsity, chosen, held_out)
                result[f"{seed} {rule}"] = torch.tensor(kept.components)
            self._kept = kept.components
        return result

    def evaluation(self) -> dict[str, Tensor]:
        """Logits of a subnetwork with each kind of ablation, and what the table of predictions says of them."""
        removed = sorted(set(range(len(self._model.grid))) - set(self._kept))
        pairs = PairTensors(self._evaluation, self._model.pad)
        drawn = draw_donors(self._train, len(pairs), 0, 0)
        donors = {"mean": None, "zero": None, "resample": drawn, "counterfactual": self._minimal}
        donors = {kind: donor and PairTensors(donor, self._model.pad) for kind, donor in donors.items()}
        logits = {
            kind: subnetwork_logits(self._model, pairs, removed, self._means, kind, of_kind)
            for kind, of_kind in donors.items()
        }
        logits["full"] = all_logits(self._model, pairs)
        self.predictions = {kind: make_predictions(values.numpy(), self._evaluation) for kind, values in logits.items()}
        odds = {f"{kind} log_odds": torch.from_numpy(of["log_odds"]) for kind, of in self.predictions.items()}
        return logits | odds

    def attention(self) -> dict[str, Tensor]:
        """Shares and maps of the fine-tuned model's attention."""
        shares = _numbers(row["share"] for row in share_rows(RUN, self._model, self._words))
        drawn = map_table(RUN, self._model, self._words[:2])["probability"].to_numpy()
        return {"shares": shares, "maps": torch.from_numpy(drawn.copy())}

    def mediation(self) -> dict[str, Tensor]:
        """Exchanged heads with two heads ablated, and paths from one of them, with both donors."""
        pairs, minimal = (
            PairTensors(self._evaluation, self._model.pad),
            select_paired(self._evaluation, self._minimal, [SWAP_SUBSET]),
        )
        _, (mediated,) = mediated_logits(self._model, pairs, self._means, [([1, 9], [[10, 20], [30]])])
        result, senders = mediated._asdict(), [([1], [9, 30])]
        swapped, same = (PairTensors(item, self._model.pad) for item in minimal[1:])
        _, (by_mean,) = path_logits(self._model, pairs, lambda index: mean_source(self._means), senders)
        _, (by_pair,) = path_logits(self._model, swapped, donor_from_pairs(self._model, same), senders)
        for donor, paths in (("mean", by_mean), ("pair", by_pair)):
            result |= {f"{donor} {name}": values for name, values in paths._asdict().items()}
        return result

    def sorting(self) -> dict[str, Tensor]:
        """List-sorting models trained with every optimizer, measured, pruned, and their local learning coefficients."""
        result = {}
        for optimiser in ("adam-l2", "adamw", "adam"):
            study = sorting_study(optimiser)
            drawn = draw_lists(study.data)
            trained = train(study, drawn.train, lambda step, parameters: None)
            result |= {f"{optimiser} {name}": value for name, value in trained.parameters.items()}
        tokens, held_out = (make_sequences(part, study.data) for part in drawn)
        sample = Sample(held_out, tokens, held_out[:4], study.data.numbers, 0)
        for table, rows in measure_checkpoint(trained.parameters, sample, [1], True):
            result[table] = _numbers(v for row in rows for v in row.values() if isinstance(v, float))
        llc = LocalLearning(
            draws=4,
            burn_in=2,
            half_step_chains=0,
            batch_size=8,
            gradient_examples=8,
            raw=None,
            scaled=None,
            tilted=WALK,
        )
        estimates = estimate_llc(compute_losses, trained.parameters, lambda n, rng: tokens[:n], llc, [1])
        result["llc"] = _numbers(v for row in estimates.rows for v in row.values() if isinstance(v, float))
        means = compute_half_means(trained.parameters, tokens)
        pool, evaluated = (compute_corners(trained.parameters, part, means) for part in (tokens, held_out))
        subsets = subset_rows(trained.parameters, evaluated, held_out)
        pruning = PruneRuns(seeds=[1], gates=HalfGates(rise=2, hold=1, batch_size=8, warmup_steps=1))
        masks = mask_rows(trained.parameters, pool, evaluated, held_out, subsets, pruning)
        for table, rows in (("subsets", subsets), ("masks", masks)):
            result[table] = _numbers(v for row in rows for v in row.values() if isinstance(v, float))
        return result

    def extractive(self) -> dict[str, Tensor]:
        """The jobs of extractive structures."""
        return extractive()

    def importance(self) -> dict[str, Tensor]:
        """The control of pruning: importance by gradients."""
        gradients = gate_gradients(self._model, PairTensors(self._train.head(40), self._model.pad), self._means)
        importance = normalise_by_layer(gradients, self._model.grid)
        return {"importance": importance, "largest": torch.tensor(keep_largest(importance, 18))}

    def _start(self):
        labels = list(LABELS)
        return build_classifier(STUDY.model, labels, len(self._tokenizer), 0, 1, FINETUNE.dropout)

    def _finetune(self, model, name: str, settings: Finetune) -> dict[int, Tensor]:
        """The logits of every evaluation, by step."""
        result: dict[int, Tensor] = {}
        state = self._folder / name
        finetune(model, self._train, self._evaluation, settings, 1, lambda step: None, result.__setitem__, state)
        return result


def sorting_study(optimiser: str) -> ListSorting:
    """The default model on few and short lists: an emulated processor takes minutes for longer ones."""
    data = {"numbers": 20, "length": 6, "train_lists": 64, "held_out_lists": 16}
    decay = {"weight_decay": 0.0} if optimiser == "adam" else {}
    training = {"seeds": [1], "steps": 2, "batch_size": 32, "optimiser": optimiser, "checkpoints": [2]} | decay
    return list_sorting.parse({"data": data, "training": training})


JOBS = ("pretraining", "finetuning", "lesion", "full_model", "pruning", "evaluation", "attention", "importance")
JOBS += ("mediation", "sorting", "extractive")


def _weights(model) -> dict[str, Tensor]:
    return {f"weight {name}": weight.detach() for name, weight in model.named_parameters()}


def _numbers(values) -> Tensor:
    return torch.tensor(list(values), dtype=torch.float64)
