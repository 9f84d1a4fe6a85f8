"""Tables and figures of a study of extractive structures, and the members of its archive."""

from functools import partial

from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.layout import Layout
from heuristic_core.experiments.extractive_structures.tables import EXTRACTIVE
from heuristic_core.figures.targets import target_files
from heuristic_core.provenance.crate.subject import Subject, describe_target

PRETRAINING_TABLE = "extractive_trace"  # missing if the model was pre-trained elsewhere
SWEEP_TABLES = ("extractive_sweep", "extractive_choice", "extractive_made_up_sweep")  # need a block `sweep`
ORDER_TABLES = ("ordering", "grafting", "localisation")  # tables about made-up facts
SCORE_TABLES = ("scores", "components", "agreement", "removal")
PRUNE_TABLES = ("subnetworks", "transfer")
SHARING_TABLES = ("core", "sharing")  # tables over all seeds


def list_tables(study: ExtractiveStudy) -> list[str]:
    """Return the schema names of a study's tables."""
    missing = ((PRETRAINING_TABLE,) if study.pretrained else ()) + (() if study.sweep else SWEEP_TABLES)
    return [name for name in EXTRACTIVE if name not in missing]


def list_corpus_tables(study: ExtractiveStudy) -> tuple[str, ...]:
    """Return the names of the tables that each seed and corpus of pre-training has."""
    return ("curves",) if study.pretrained else ("trace", "curves")


def members(study: ExtractiveStudy) -> list[str]:
    """Return the archive's members: paths below the study's folder that its configuration implies."""
    layout = Layout.for_study(study)
    paths = [*map(layout.table, (*list_tables(study), "claims", "provenance"))]
    paths += [path for name in TARGETS for path in target_files(layout.root, name)]
    paths += [f"{layout.root}/report.html", f"{layout.root}/study.json"]
    return sorted(path.removeprefix(f"{layout.root}/") for path in paths)


def subject(study: ExtractiveStudy) -> Subject:
    """Return the description of the study for its archive."""
    models = f"{len(study.seeds)} small language models that were taught facts"
    return Subject(
        run=f"{models}: pre-trained, taught, measured and drawn",
        results=f"Extractive structures of {models}: configuration, tables, figures and provenance",
        paper="arXiv:2412.04614",
        describe=partial(describe_target, titles={name: target.title for name, target in TARGETS.items()}),
    )
