"""What of a study goes into its archive."""

from itertools import chain

from heuristic_core.experiments.heuristic_core.config.cells import cells, repeats
from heuristic_core.experiments.heuristic_core.config.paths import Layout
from heuristic_core.experiments.heuristic_core.config.study import Study
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS, unmet_in
from heuristic_core.figures.targets import outputs

# All that are drawn, judged or reported, and the traces of training. Not those with a row for every pair and model.
TABLES = (
    *(
        "accuracy",
        "group_accuracy",
        "family_scores",
        "finetune_accuracy",
        "chance",
        "summary",
        "variance",
        "effective_size",
        "empty_circuit",
        "circuit_performance",
    ),
    *("pretraining_trace", "pretraining_attention", "overlap_heads", "lesions", "lesion_accuracy"),
    *("components", "head_frequency", "rank_correlation", "frequency_agreement", "mask_clusters"),
    *("core", "core_null", "core_seeds", "stable_core"),
    *("ablations", "triples", "ablation_sets", "controls", "attention", "attention_maps"),
    *("claims", "splits", "runs", "prune_trace", "finetune_trace", "provenance"),
)
# Of studies that have a part of the block `mechanism`.
MECHANISM: dict[str, tuple[str, ...]] = {
    "core_free": ("core_free", "core_free_runs", "packing"),
    "transplant": ("transplant",),
    "entry": ("entry", "entry_frequency"),
    "masks": ("random_masks", "counter_heads", "mask_fit", "mask_tests"),
    "interpolation": ("interpolation",),
    "mediation": ("mediation",),
    "paths": ("paths",),
}
EVERY_TABLE = (*TABLES, *chain(*MECHANISM.values()))
LESIONED = ("lesions", "lesion_accuracy")  # of studies that fine-tune without heads
PRETRAINED = ("pretraining_trace", "pretraining_attention")  # of studies that pre-train their model


def absent(study: Study) -> set[str]:
    """Names of the tables that `study` does not have."""
    found = {*(() if study.lesion else LESIONED), *(() if study.pretraining else PRETRAINED)}
    return found | {name for part, names in MECHANISM.items() if part not in study.mechanism.parts for name in names}


def members(study: Study) -> list[str]:
    """Paths below the study's folder: what its configuration says, whatever else is there."""
    layout = Layout.of(study)
    drawn = [path for name in TARGETS if unmet_in(name, study) is None for path in outputs(layout.root, name)]
    folders = [
        pattern.format(ft_seed=ft_seed, step=cell.step, sparsity=f"{cell.sparsity:g}", seed=cell.seed)
        for pattern, wanted in ((layout.cell, cells(study)), (layout.again, repeats(study)))
        for ft_seed in study.finetune.seeds
        for cell in wanted
    ]
    lacking = absent(study)
    paths = [
        *(layout.table(name) for name in EVERY_TABLE if name not in lacking),
        *drawn,
        *(f"{folder}/subnetwork.json" for folder in folders),
    ]
    paths += [f"{layout.root}/report.html", f"{layout.root}/study.json"]
    return sorted(path.removeprefix(f"{layout.root}/") for path in paths)
