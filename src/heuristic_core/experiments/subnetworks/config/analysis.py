"""Configuration of analyses and figures. No model depends on it, except ablated ones."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt

from heuristic_core.config.blocks import (
    Block,
    OptionalPairs,
    Pairs,
    Positive,
    Resamples,
    Seed,
    Share,
    Unit,
    check_ascending,
    check_unique,
)
from heuristic_core.config.figure import Figure

Kind = Literal["mean", "zero", "resample", "counterfactual"]
COUNTERFACTUAL: Kind = "counterfactual"  # activations on the minimal pair, which only some pairs have
Rule = Literal["interpolated", "grid"]
Order = Literal["per-seed", "mean-first", "upward"]
Mixed = Literal["groups", "subsets"]
Sentence = Annotated[str, Field(min_length=1)]
Head = Annotated[str, Field(pattern=r"^\d+\.\d+$")]

# Maximum number of rows of predictions in memory while a checkpoint is scored, unless one subnetwork has more.
MAX_ROWS_IN_MEMORY = 3_000_000
MAX_MODELS_IN_MEMORY = 200  # maximum number of models in memory, besides the full one


class Counterpart(Block):
    """Experiment of the paper that a study repeats.

    Several figures of the paper repeat another one for a second model or task: figure 11 is figure 5 for QQP. This
    block selects those that belong to the study.
    """

    model: Literal["bert", "roberta", "gpt2"] = Field("bert", description="the paper's model")
    task: Literal["mnli", "qqp"] = Field("mnli", description="the paper's task")


class Analysis(Block):
    """Settings of analyses."""

    subsets: list[str] | None = Field(None, description="subsets that enter group means; default: all")
    names: Annotated[dict[str, Sentence], Unit("")] = Field(
        {},
        description="names of subsets in figures and tables; those of MNLI, HANS and generated tasks have defaults",
    )
    class_rule: Literal["argmax-first", "merge-first"] = Field(
        "argmax-first",
        description="where a subset merges classes: take the most probable class, then merge (the paper), or add up "
        "the probabilities of merged classes first",
    )
    bootstrap: Resamples = Field(1000, description="number of resamples for intervals over evaluation pairs")
    margin: Annotated[Positive, Unit("points")] = Field(
        3.0, description="a subnetwork is faithful if its accuracy exceeds the full model's minus this margin"
    )
    margins: Annotated[list[Positive], AfterValidator(check_ascending), Unit("points")] = Field(
        [1.0, 2.0, 3.0, 4.0, 5.0], description="further margins for effective size"
    )
    recovery: Annotated[list[Share], AfterValidator(check_ascending), Unit("share")] = Field(
        [0.95], description="other criterion of faithful: at least this share of the full model's accuracy"
    )
    agreement: Annotated[list[Share], AfterValidator(check_ascending), Unit("share")] = Field(
        [0.95], description="other criterion of faithful: the full model's class on at least this share of pairs"
    )
    kl: Annotated[list[Positive], AfterValidator(check_ascending), Unit("nats")] = Field(
        [0.1], description="other criterion of faithful: mean KL(full || subnetwork) of at most this"
    )
    effective_size: Rule = Field(
        "interpolated",
        description="the largest faithful sparsity: interpolated between sparsities of the grid, or the largest of the "
        "grid (the paper)",
    )
    size_order: Order = Field(
        "per-seed",
        description="effective size in figure 6, claims and comparisons: mean over pruning seeds of each seed's size "
        "(the paper's script), size of the mean accuracy over pruning seeds (the paper's text), or mean of each "
        "seed's size, searched upward from dense; table_effective_size has all of them",
        exclude_if=lambda order: order == "per-seed",  # so that study.json of studies without it does not change
    )
    mixed: Mixed = Field(
        "groups",
        description="equal weights in the mixed effective size of figure 6: of ID and OOD (the paper's text), or of "
        "all their subsets (the paper's script); table_effective_size has both",
        exclude_if=lambda mixed: mixed == "groups",  # as for size_order
    )
    permutations: Annotated[PositiveInt, Unit("permutations")] = Field(
        10_000, description="number of permutations within layers for tests of the core's size"
    )
    control_draws: Annotated[PositiveInt, Unit("sets")] = Field(
        40,
        description="number of random sets of heads, matched in number and layers, for the core and its strongest "
        "three heads, and up to 40 for the stable core and the core alone; with fewer than 40 no p can be below 0.05",
    )
    pair_control_draws: Annotated[PositiveInt, Unit("sets")] = Field(
        5, description="the same for pairs of core heads and for `ablation_sets`, which are numerous"
    )
    ablation_pairs: OptionalPairs = Field(
        None,
        description="number of pairs of each subset for ablations, a sample stratified by label (`seed`); default: all",
    )
    ablation_kinds: Annotated[list[Kind], AfterValidator(check_unique)] = Field(
        ["mean", "zero", "resample", "counterfactual"],
        min_length=1,
        description="replacements of ablated heads: means, zeros, activations on training pairs, or activations on the "
        "minimal pair (only for pairs that have one)",
    )
    resample_draws: Annotated[PositiveInt, Unit("draws")] = Field(
        4,
        description="number of draws of training pairs for `resample`, over which accuracy and log odds are averaged; "
        "each random control uses only one of them, in turn",
    )
    ablation_sets: list[Annotated[list[Head], Field(min_length=1)]] = Field(
        [], description="further sets of heads to ablate together, such as [['2.5', '3.7', '4.0']] (text, not numbers)"
    )
    control_pairs: OptionalPairs = Field(
        None,
        description="number of pairs of each subset for controls (random subnetworks, gradient importance) and for the "
        "comparison of learned subnetworks with them, a sample stratified by label (`seed`); default: all",
    )
    importance_pairs: Pairs = Field(
        1000, description="number of training pairs for gradient importance (Michel et al. 2019)"
    )
    attention_pairs: Pairs = Field(
        500,
        description="number of in-domain pairs for attention shares, a sample stratified by subset and label (`seed`)",
    )
    overlap_times_uniform: Annotated[Positive, Unit("times uniform")] = Field(
        2.0,
        description="a head is an overlap head if, before fine-tuning, its attention to the repeated word is at least "
        "this multiple of that of uniform attention on the same pairs",
    )
    despite_chance: bool = Field(
        False,
        description="continue even if the full model has not learned the task, i.e. its in-domain accuracy does not "
        "exceed that of the best constant class",
        exclude_if=lambda despite_chance: (
            not despite_chance
        ),  # so that study.json of studies without it does not change
    )
    example_pairs: list[Annotated[list[Sentence], Field(min_length=1, max_length=2)]] | None = Field(
        None,
        description="pairs, or lists of one sentence, in figures of attention; default: the first pair of each of the "
        "first two OOD subsets",
    )
    seed: Seed = Field(0, description="seed of permutations, bootstrap, control draws and samples of evaluation pairs")


class Figures(Block):
    """Settings of each figure and printed table, by the name of its target in `figures.targets`."""

    figure02: Figure = Figure()
    figure03: Figure = Figure()
    figure04: Figure = Figure()
    figure05: Figure = Figure()
    figure06: Figure = Figure()
    figure07: Figure = Figure()
    figure08: Figure = Figure()
    figure09: Figure = Figure()
    figure10: Figure = Figure()
    figure11: Figure = Figure()
    figure12: Figure = Figure()
    figure13: Figure = Figure()
    figure14: Figure = Figure()
    figure15: Figure = Figure()
    figure16: Figure = Figure()
    figure_cpr: Figure = Figure()
    figure_pretraining: Figure = Figure()
    figure_core_seeds: Figure = Figure()
    figure_lesion: Figure = Figure()
    figure_transplant: Figure = Figure()
    figure_entry: Figure = Figure()
    figure_counter_heads: Figure = Figure()
    figure_interpolation: Figure = Figure()
    figure_mediation: Figure = Figure()
    figure_paths: Figure = Figure()
    table3: Figure = Figure()
    table4: Figure = Figure()
    table5: Figure = Figure()
    table6: Figure = Figure()
    table7: Figure = Figure()
    table8: Figure = Figure()
    table_core: Figure = Figure()
    table_overlap: Figure = Figure()
    table_interactions: Figure = Figure()
    table_mask_fit: Figure = Figure()
    table_effective_size: Figure = Figure()
    table_cpr: Figure = Figure()
    table_controls: Figure = Figure()
    table_variance: Figure = Figure()
