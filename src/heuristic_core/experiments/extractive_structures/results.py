"""What a study of extractive structures has: its tables and figures, and what of it goes into its archive."""

from functools import partial

from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.layout import Layout
from heuristic_core.experiments.extractive_structures.tables import EXTRACTIVE
from heuristic_core.figures.targets import outputs
from heuristic_core.provenance.crate.subject import Subject, about_target

LEFT_OUT = "extractive_trace"  # of a study whose model is pre-trained elsewhere
SWEPT = ("extractive_sweep", "extractive_choice", "extractive_made_up_sweep")  # tables of a study with a block `sweep`
ORDERED = ("ordering", "grafting", "localisation")  # of made-up facts
SCORED = ("scores", "components", "agreement", "removal")
PRUNED = ("subnetworks", "transfer")
SHARED = ("core", "sharing")  # of the whole study


def tables_of(study: ExtractiveStudy) -> list[str]:
    """The schemas whose tables a study has."""
    absent = ((LEFT_OUT,) if study.pretrained else ()) + (() if study.sweep else SWEPT)
    return [name for name in EXTRACTIVE if name not in absent]


def of_corpus(study: ExtractiveStudy) -> tuple[str, ...]:
    """Tables of every pre-trained model."""
    return ("curves",) if study.pretrained else ("trace", "curves")


def members(study: ExtractiveStudy) -> list[str]:
    """Paths below the study's folder: what its configuration says, whatever else is there."""
    layout = Layout.of(study)
    paths = [*map(layout.table, (*tables_of(study), "claims", "provenance"))]
    paths += [path for name in TARGETS for path in outputs(layout.root, name)]
    paths += [f"{layout.root}/report.html", f"{layout.root}/study.json"]
    return sorted(path.removeprefix(f"{layout.root}/") for path in paths)


def subject(study: ExtractiveStudy) -> Subject:
    """What an archive says of the study."""
    models = f"{len(study.seeds)} small language models that were taught facts"
    return Subject(
        run=f"{models}: pre-trained, taught, measured and drawn",
        results=f"Extractive structures of {models}: configuration, tables, figures and provenance",
        paper="arXiv:2412.04614",
        about=partial(about_target, titles={name: target.title for name, target in TARGETS.items()}),
    )
