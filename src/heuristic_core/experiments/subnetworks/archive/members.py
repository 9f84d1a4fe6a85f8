"""The files of a study that go into its archive."""

from itertools import chain

from heuristic_core.experiments.subnetworks.config.cells import list_cells, repeated_cells
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, missing_study_requirement
from heuristic_core.figures.targets import target_files

# Tables that figures, claims or the report read, and traces of training; no tables with a row for each pair and model.
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
# Tables by part of the block `mechanism`, for studies that have this part.
MECHANISM_TABLES: dict[str, tuple[str, ...]] = {
    "core_free": ("core_free", "core_free_runs", "packing"),
    "transplant": ("transplant",),
    "entry": ("entry", "entry_frequency"),
    "masks": ("random_masks", "counter_heads", "mask_fit", "mask_tests"),
    "interpolation": ("interpolation",),
    "mediation": ("mediation",),
    "paths": ("paths",),
}
ALL_TABLES = (*TABLES, *chain(*MECHANISM_TABLES.values()))
LESION_TABLES = ("lesions", "lesion_accuracy")  # of studies that fine-tune without heads
PRETRAINING_TABLES = ("pretraining_trace", "pretraining_attention")  # of studies that pre-train their model


def list_absent_tables(study: Study) -> set[str]:
    """Return the names of the tables that `study` does not have."""
    absent_names = {*(() if study.lesion else LESION_TABLES), *(() if study.pretraining else PRETRAINING_TABLES)}
    return absent_names | {
        table for part, names in MECHANISM_TABLES.items() if part not in study.mechanism.parts for table in names
    }


def members(study: Study) -> list[str]:
    """Return the paths, below the study's folder, of the files that its configuration implies."""
    layout = Layout.of(study)
    drawn = [
        path
        for name in TARGETS
        if missing_study_requirement(name, study) is None
        for path in target_files(layout.root, name)
    ]
    folders = [
        pattern.format(ft_seed=ft_seed, step=cell.step, sparsity=f"{cell.sparsity:g}", seed=cell.seed)
        for pattern, wanted_cells in ((layout.cell, list_cells(study)), (layout.repeated_cell, repeated_cells(study)))
        for ft_seed in study.finetune.seeds
        for cell in wanted_cells
    ]
    missing_tables = list_absent_tables(study)
    paths = [
        *(layout.table(name) for name in ALL_TABLES if name not in missing_tables),
        *drawn,
        *(f"{folder}/subnetwork.json" for folder in folders),
    ]
    paths += [f"{layout.root}/report.html", f"{layout.root}/study.json"]
    return sorted(path.removeprefix(f"{layout.root}/") for path in paths)
