"""Every figure and table of the experiment by name, what each is drawn from, and which studies can have it.

Imports nothing heavy: the DAG reads it.
"""

from collections.abc import Collection
from typing import NamedTuple

from heuristic_core.experiments.heuristic_core.config.context import Context


class Target(NamedTuple):
    """One figure or table.

    tables: the Parquet tables it reads, by schema name. title: one line that says what it shows.
    also: tables that it reads where a study has them.
    draws: the module that draws it, where that is another target's: the paper repeats figures for further models and
    tasks. model, task: the counterpart that a study must have for it; None for any.
    part: of the block `mechanism`, the part that the study must have; None for any study.
    twin: a target that shows the same subsets, where the study's task names no families of subsets.
    needs: facts of `Context`, the number of each that the study must have at least, and the setting that gives them.
    """

    tables: tuple[str, ...]
    title: str
    draws: str | None = None
    model: str | None = None
    task: str | None = None
    needs: tuple[tuple[str, int, str], ...] = ()
    also: tuple[str, ...] = ()
    part: str | None = None
    twin: str | None = None


OVER_STEPS = (("checkpoints", 2, "grid.checkpoints"),)
SIZES = ("effective_size", "finetune_accuracy")
RUNS = ("runs",)  # which subnetworks collapsed
UNPRUNED = ("finetune_accuracy", "pretraining_attention", "pretraining_trace")  # tables of full models alone
FREQUENCIES = ("head_frequency", "rank_correlation")
TARGETS = {
    "figure02": Target(
        ("accuracy", "group_accuracy"), "Subnetworks agree in-domain and disagree out-of-domain", also=RUNS
    ),
    "figure03": Target(("accuracy",), "Each subnetwork has its own out-of-domain profile", also=RUNS),
    "figure04": Target(("group_accuracy",), "Accuracy against sparsity", also=RUNS),
    "figure05": Target(("core",), "Heads by the number of subnetworks that keep them", task="mnli"),
    "figure06": Target(SIZES, "Effective size over fine-tuning", model="bert", needs=OVER_STEPS, also=RUNS),
    "figure07": Target(("attention_maps", "core"), "Attention of core heads between the tokens of a pair", task="mnli"),
    "figure08": Target(
        ("attention_maps", "core"), "Attention of core heads between the tokens of a pair", "figure07", task="qqp"
    ),
    "figure09": Target(("attention", "core"), "Where the core heads attend"),
    "figure10": Target(("finetune_accuracy",), "The full model's accuracy over fine-tuning"),
    "figure11": Target(("core",), "Heads by the number of subnetworks that keep them", "figure05", task="qqp"),
    "figure12": Target(("accuracy", "family_scores"), "Subnetworks on every subset", also=RUNS, twin="figure02"),
    "figure13": Target(FREQUENCIES, "How often each head is kept, at both sparsities", task="mnli"),
    "figure14": Target(FREQUENCIES, "How often each head is kept, at both sparsities", "figure13", task="qqp"),
    "figure15": Target(
        SIZES, "Effective size over fine-tuning", "figure06", model="roberta", needs=OVER_STEPS, also=RUNS
    ),
    "figure16": Target(SIZES, "Effective size over fine-tuning", "figure06", model="gpt2", needs=OVER_STEPS, also=RUNS),
    "figure_cpr": Target(
        ("circuit_performance",),
        "Circuit performance (CPR) and circuit-model distance (CMD) over fine-tuning",
        needs=OVER_STEPS,
    ),
    "figure_pretraining": Target(
        ("pretraining_attention", "pretraining_trace"),
        "When heads come to attend to the repeated word in pre-training",
        needs=(("pretraining", 1, "model.pretraining (as in config/miniature-pretrain.yaml)"),),
    ),
    "figure_core_seeds": Target(("core_seeds",), "Heads that all subnetworks share, by their number"),
    "figure_lesion": Target(
        ("finetune_accuracy", "lesion_accuracy"),
        "Fine-tuning without the heads that attend to the repeated word before it",
        needs=(("lesions", 1, "lesion.control_draws (as in config/lesion/overlap.yaml)"),),
    ),
    "figure_transplant": Target(
        ("transplant",), "Subnetworks of one checkpoint with the weights of another one", also=RUNS, part="transplant"
    ),
    "figure_entry": Target(
        ("entry_frequency", "finetune_accuracy"), "When heads enter subnetworks over fine-tuning", part="entry"
    ),
    "figure_counter_heads": Target(
        ("counter_heads", "mask_tests"), "What heads add to random subnetworks that contain the core", part="masks"
    ),
    "figure_interpolation": Target(
        ("interpolation",), "From the subnetwork with the lowest J to the one with the highest", part="interpolation"
    ),
    "figure_mediation": Target(
        ("mediation", "core"),
        "What later heads restore, and what they transmit, of what the core does",
        part="mediation",
    ),
    "figure_paths": Target(("paths", "core"), "Direct effects of core heads on later heads", part="paths"),
    "table3": Target(("ablations",), "Ablating core heads from the full model", model="bert", task="mnli"),
    "table4": Target(("ablations",), "Ablating core heads from the full model", "table3", model="bert", task="qqp"),
    "table5": Target(("accuracy", "summary"), "Subnetworks of the mid sparsity, subset by subset", also=RUNS),
    "table6": Target(("ablations",), "Ablating core heads from the full model", "table3", model="roberta"),
    "table7": Target(("group_accuracy", "summary"), "Subnetworks of both sparsities, group by group", also=RUNS),
    "table8": Target(("ablations",), "Ablating core heads from the full model", "table3", model="gpt2"),
    "table_core": Target(
        ("core_null",),
        "Heads that all subnetworks share, and the stable core, against chance",
        also=("core", "stable_core", *RUNS, "group_accuracy"),
    ),
    "table_overlap": Target(
        ("overlap_heads", "core"), "Heads that attend to the repeated word before fine-tuning, and which are kept"
    ),
    "table_interactions": Target(("ablations",), "Pairs and sets of core heads, together and one by one"),
    "table_mask_fit": Target(
        ("mask_fit",), "Learned subnetworks predicted from random ones, head by head", part="masks"
    ),
    "table_effective_size": Target(
        ("effective_size",), "Effective size by checkpoint, group, order and criterion", also=RUNS
    ),
    "table_cpr": Target(
        ("circuit_performance",), "Circuit performance (CPR) and circuit-model distance (CMD) by checkpoint", also=RUNS
    ),
    "table_controls": Target(
        ("controls",), "Learned subnetworks against random and gradient-importance ones", also=RUNS
    ),
    "table_variance": Target(
        ("variance",), "Variance between and within pruning seeds", needs=(("repeats", 1, "grid.repeats"),), also=RUNS
    ),
}


def module(name: str) -> str:
    """The module under `figures` that draws target `name`."""
    return TARGETS[name].draws or name


def of_subnetworks(name: str) -> bool:
    """Whether target `name` shows what was pruned, and so depends on pruning seeds."""
    return any(table not in UNPRUNED for table in TARGETS[name].tables)


def unmet(name: str, context, tables: Collection[str] | None = None) -> str | None:
    """Why a study cannot have target `name`, and what to set or ask for instead; None if it can.

    context: of the study. tables: the tables of the study, by schema name; None for all.
    """
    target = TARGETS[name]
    for key in ("model", "task"):
        wanted, found = getattr(target, key), getattr(context.counterpart, key)
        if wanted not in (None, found):
            own = _own(name, context)
            instead = f", or ask for {own}" if own else ""
            return f"{name} is of {wanted}, this study of {found}; set counterpart.{key}: {wanted}{instead}"
    if target.part not in (None, *context.parts):
        return f"{name} needs the block mechanism.{target.part}, which this study does not have (as in config.yaml)"
    for fact, least, setting in target.needs:
        if len(getattr(context, fact)) < least:
            return f"{name} needs at least {least} of {setting}, this study has {len(getattr(context, fact))}"
    if absent := [table for table in target.tables if tables is not None and table not in tables]:
        return f"{name} is drawn from {', '.join(absent)}, which this study does not have"
    return None


def unmet_in(name: str, study) -> str | None:
    """The same of a checked study."""
    if (twin := TARGETS[name].twin) and not _families(study):
        shown, of_twin = (getattr(study.figures, one).subsets for one in (name, twin))
        if shown == (of_twin or study.analysis.subsets):
            return (
                f"{name} needs families of subsets, and {twin} shows the same subsets without them; let family_by of "
                "an entry of task.evaluation name a column of families"
            )
    return unmet(name, Context.of(study))


def lacking(study) -> dict[str, str]:
    """Targets that a checked study cannot have -> why, and what to set; without those that it has by another name."""
    reasons = {name: unmet_in(name, study) for name in TARGETS}
    own = {name: _own(name, Context.of(study)) for name in TARGETS}
    return {name: reason for name, reason in reasons.items() if reason and own[name] in (None, name)}


def _families(study) -> bool:
    """Whether the study's evaluation pairs have families, as those of generated tasks do."""
    splits = getattr(study.task, "evaluation", None)
    return splits is None or any(split.family_by for split in splits.values())


def _own(name: str, context) -> str | None:
    """The target that draws the same as `name` for this study's counterpart."""
    for other, target in TARGETS.items():
        same = module(other) == module(name)
        if same and all(getattr(target, k) in (None, getattr(context.counterpart, k)) for k in ("model", "task")):
            return other
    return None
