"""The figures and tables of the experiment by name: what each is drawn from, and which studies can have it.

Snakemake imports this module at every start, so it imports nothing heavy.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.figures import targets
from heuristic_core.study.target import Target as BaseTarget


@dataclass(frozen=True)
class Target(BaseTarget):
    """A figure or printed table of the heuristic core.

    Attributes:
        model: The counterpart model that the study must have; None for any.
        task: The counterpart task that the study must have; None for any.
        requirements: Triples of a field of `Context`, the smallest length it must have, and the setting that provides
            it.
        mechanism_part: The part of the block `mechanism` that the study must have; None for any study.
        only_last_checkpoint: Whether it shows the last checkpoint alone: it is drawn before the others are evaluated.
        twin: A target that shows the same if the study's task has no families of subsets.
        needs_pairs: Whether the task must have pairs of sentences.
    """

    model: str | None = None
    task: str | None = None
    requirements: tuple[tuple[str, int, str], ...] = ()
    mechanism_part: str | None = None
    only_last_checkpoint: bool = False
    twin: str | None = None
    needs_pairs: bool = False


SEVERAL_CHECKPOINTS = (("checkpoints", 2, "grid.checkpoints"),)
SIZE_TABLES = ("effective_size", "finetune_accuracy")
RUNS_TABLE = ("runs",)  # which subnetworks collapsed
FULL_MODEL_TABLES = ("finetune_accuracy", "pretraining_attention", "pretraining_trace")  # tables without subnetworks
FREQUENCY_TABLES = ("head_frequency", "rank_correlation")
TARGETS = {
    "figure02": Target(
        ("accuracy", "group_accuracy"),
        "Accuracy of every subnetwork on the main subsets",
        optional_tables=RUNS_TABLE,
        only_last_checkpoint=True,
    ),
    "figure03": Target(
        ("accuracy",), "Three subnetworks on the main subsets", optional_tables=RUNS_TABLE, only_last_checkpoint=True
    ),
    "figure04": Target(
        ("group_accuracy",), "Accuracy against sparsity", optional_tables=RUNS_TABLE, only_last_checkpoint=True
    ),
    "figure05": Target(("core",), "Heads by the number of subnetworks that keep them", task="mnli"),
    "figure06": Target(
        SIZE_TABLES,
        "Effective size over fine-tuning",
        model="bert",
        requirements=SEVERAL_CHECKPOINTS,
        optional_tables=RUNS_TABLE,
    ),
    "figure07": Target(("attention_maps", "core"), "Attention of core heads between tokens", task="mnli"),
    "figure08": Target(
        ("attention_maps", "core"),
        "Attention of core heads between tokens",
        drawn_by="figure07",
        task="qqp",
    ),
    "figure09": Target(("attention", "core"), "Targets of the core heads' attention"),
    "figure10": Target(("finetune_accuracy",), "The full model's accuracy over fine-tuning"),
    "figure11": Target(("core",), "Heads by the number of subnetworks that keep them", drawn_by="figure05", task="qqp"),
    "figure12": Target(
        ("accuracy", "family_scores"),
        "Accuracy of each subnetwork on all subsets, and J by family",
        optional_tables=RUNS_TABLE,
        only_last_checkpoint=True,
        twin="figure02",
    ),
    "figure13": Target(FREQUENCY_TABLES, "How often each head is kept, at both sparsities", task="mnli"),
    "figure14": Target(
        FREQUENCY_TABLES, "How often each head is kept, at both sparsities", drawn_by="figure13", task="qqp"
    ),
    "figure15": Target(
        SIZE_TABLES,
        "Effective size over fine-tuning",
        drawn_by="figure06",
        model="roberta",
        requirements=SEVERAL_CHECKPOINTS,
        optional_tables=RUNS_TABLE,
    ),
    "figure16": Target(
        SIZE_TABLES,
        "Effective size over fine-tuning",
        drawn_by="figure06",
        model="gpt2",
        requirements=SEVERAL_CHECKPOINTS,
        optional_tables=RUNS_TABLE,
    ),
    "figure_cpr": Target(
        ("circuit_performance",),
        "Circuit performance (CPR) and circuit-model distance (CMD) over fine-tuning",
        requirements=SEVERAL_CHECKPOINTS,
    ),
    "figure_pretraining": Target(
        ("pretraining_attention", "pretraining_trace"),
        "Attention to the repeated word over pre-training",
        requirements=(("pretraining", 1, "model.pretraining of pairs (as in config/miniature-pretrain.yaml)"),),
    ),
    "figure_core_seeds": Target(("core_seeds",), "Heads that all subnetworks share, by their number"),
    "figure_lesion": Target(
        ("finetune_accuracy",),
        "Fine-tuning without the heads that attend to the repeated word before it",
        optional_tables=("lesion_accuracy",),
        requirements=(("lesions", 1, "lesion.control_draws (as in config/lesion/overlap.yaml)"),),
    ),
    "figure_transplant": Target(
        ("transplant",),
        "Subnetworks of one checkpoint with the weights of another one",
        optional_tables=RUNS_TABLE,
        mechanism_part="transplant",
    ),
    "figure_entry": Target(
        ("entry_frequency", "finetune_accuracy"),
        "Share of subnetworks that keep a head, over fine-tuning",
        mechanism_part="entry",
    ),
    "figure_counter_heads": Target(
        ("counter_heads", "mask_tests"),
        "Effect of each head in random subnetworks that contain the core",
        possibly_empty=("counter_heads",),  # no head outside the core
        mechanism_part="masks",
    ),
    "figure_interpolation": Target(
        ("interpolation",),
        "From the subnetwork with the lowest J to the one with the highest",
        mechanism_part="interpolation",
    ),
    "figure_mediation": Target(
        ("mediation", "core"),
        "Share of the core's effect that later heads restore or transmit",
        possibly_empty=("mediation",),  # no core head has a later one
        mechanism_part="mediation",
    ),
    "figure_paths": Target(
        ("paths", "core"),
        "Direct effects of core heads on later heads",
        possibly_empty=("paths",),  # no run has a core
        mechanism_part="paths",
    ),
    "table3": Target(("ablations",), "Ablating core heads from the full model", model="bert", task="mnli"),
    "table4": Target(
        ("ablations",), "Ablating core heads from the full model", drawn_by="table3", model="bert", task="qqp"
    ),
    "table5": Target(("accuracy", "summary"), "Subnetworks of the mid sparsity, subset by subset"),
    "table6": Target(("ablations",), "Ablating core heads from the full model", drawn_by="table3", model="roberta"),
    "table7": Target(("group_accuracy", "summary"), "Subnetworks of both sparsities, group by group"),
    "table8": Target(("ablations",), "Ablating core heads from the full model", drawn_by="table3", model="gpt2"),
    "table_core": Target(
        ("core_null",),
        "Heads that all subnetworks share, and the stable core, against chance",
        optional_tables=("core", "stable_core", *RUNS_TABLE, "group_accuracy"),
    ),
    "table_overlap": Target(
        ("overlap_heads", "core"),
        "Heads that attend to the repeated word before fine-tuning, and which are kept",
        needs_pairs=True,
    ),
    "table_interactions": Target(("ablations",), "Pairs and sets of core heads, together and one by one"),
    "table_mask_fit": Target(
        ("mask_fit",), "Learned subnetworks predicted from random ones, head by head", mechanism_part="masks"
    ),
    "table_effective_size": Target(
        ("effective_size",), "Effective size by checkpoint, group, order and criterion", optional_tables=RUNS_TABLE
    ),
    "table_cpr": Target(
        ("circuit_performance",),
        "Circuit performance (CPR) and circuit-model distance (CMD) by checkpoint",
        optional_tables=RUNS_TABLE,
    ),
    "table_controls": Target(("controls",), "Learned subnetworks, random ones and one by gradient importance"),
    "table_variance": Target(
        ("variance",),
        "Variance between and within pruning seeds",
        requirements=(("repeats", 1, "grid.repeats"),),
        optional_tables=RUNS_TABLE,
    ),
}


drawing_module = partial(targets.drawing_module, TARGETS)


def shows_subnetworks(name: str) -> bool:
    """Return whether target `name` shows subnetworks, and so depends on pruning seeds."""
    return any(table not in FULL_MODEL_TABLES for table in TARGETS[name].tables)


def missing_requirement(name: str, context: Context, tables: Collection[str] | None = None) -> str | None:
    """Return why a study cannot have target `name`, and what to set or request instead; None if it can.

    Args:
        name: A key of `TARGETS`.
        context: The study's context.
        tables: Names of the tables that the study has; None for all.
    """
    target = TARGETS[name]
    for key in ("model", "task"):
        required, actual = getattr(target, key), getattr(context.counterpart, key)
        if required not in (None, actual):
            alternative = _counterpart_target(name, context)
            hint = f", or use {alternative}" if alternative else ""
            return f"{name} is of {required}, this study of {actual}; set counterpart.{key}: {required}{hint}"
    if target.mechanism_part not in (None, *context.parts):
        part = target.mechanism_part
        return f"{name} needs the block mechanism.{part}, which this study does not have (as in config/mechanism.yaml)"
    for fact, minimum, setting in target.requirements:
        if len(getattr(context, fact)) < minimum:
            return f"{name} needs at least {minimum} of {setting}, this study has {len(getattr(context, fact))}"
    if missing := [table for table in target.tables if tables is not None and table not in tables]:
        return f"{name} is drawn from {', '.join(missing)}, which this study does not have"
    return None


def missing_study_requirement(name: str, study: Study) -> str | None:
    """Return why a checked study cannot have a target, as :func:`missing_requirement` does; None if it can.

    Args:
        name: A key of `TARGETS`.
        study: The study.
    """
    if (twin := TARGETS[name].twin) and not _has_families(study):
        subsets, twin_subsets = (getattr(study.figures, target).subsets for target in (name, twin))
        if subsets == (twin_subsets or study.analysis.subsets):
            return (
                f"{name} needs families of subsets, and {twin} shows the same subsets without them; let family_by of "
                "an entry of task.evaluation name a column of families"
            )
    if TARGETS[name].needs_pairs and study.task.sentence_count == 1:
        return f"{name} needs pairs of sentences; the task has single sentences"
    return missing_requirement(name, Context.from_study(study))


def unavailable_targets(study: Study) -> dict[str, str]:
    """Map each target that a checked study cannot have to the reason, except targets it has under another name."""
    reasons = {name: missing_study_requirement(name, study) for name in TARGETS}
    counterparts = {name: _counterpart_target(name, Context.from_study(study)) for name in TARGETS}
    return {name: reason for name, reason in reasons.items() if reason and counterparts[name] in (None, name)}


def _has_families(study) -> bool:
    """Return whether the study's evaluation pairs have families; pairs of generated tasks do."""
    splits = getattr(study.task, "evaluation", None)
    return splits is None or any(split.family_by for split in splits.values())


def _counterpart_target(name: str, context) -> str | None:
    """Return the target that draws the same as `name` for the study's counterpart, None if there is none."""
    for other, target in TARGETS.items():
        same = drawing_module(other) == drawing_module(name)
        if same and all(getattr(target, k) in (None, getattr(context.counterpart, k)) for k in ("model", "task")):
            return other
    return None
