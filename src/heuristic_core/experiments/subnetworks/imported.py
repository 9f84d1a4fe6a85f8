"""Studies whose tables are imported: the authors' published results, and archives of studies.

They have the figures, claims and report of the experiment "heuristic-core", drawn from the tables that there are.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.config.blocks import Block
from heuristic_core.config.reading import ConfigError, validate
from heuristic_core.experiments.subnetworks.archive.reading import Crate, open_crate
from heuristic_core.experiments.subnetworks.config.analysis import Analysis, Figures
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.experiments.subnetworks.experiment import Subnetworks
from heuristic_core.experiments.subnetworks.figures.targets import missing_requirement
from heuristic_core.experiments.subnetworks.published.study import PublishedStudy, load_paper_results, read_studies

COMPUTED_TABLES = ("group_accuracy", "family_scores", "effective_size", "summary", "variance")  # of published results


@dataclass(frozen=True)
class ImportedStudy:
    """A study whose tables are imported.

    Attributes:
        study: Name of the study.
        results: Folder of all results.
        arithmetic: As the key of configurations.
        root: Folder of its results.
        source: The published results or the archive.
        tables: Tables that claims, figures or the report read.
        context: Context of the study.
        figures: Settings of figures.
        analysis: Settings of the analysis; None if nothing is computed but claims.
        imported: Names of all imported tables. Figures may show more of them than `tables`, which claims may read.
    """

    study: str
    results: str
    arithmetic: str
    root: str
    source: PublishedStudy | Crate
    tables: tuple[str, ...]
    context: Context
    figures: Figures
    analysis: Analysis | None = None
    imported: tuple[str, ...] = ()


class ImportedSubnetworks(Subnetworks):
    """Base of experiments that import the tables of a study."""

    commands = ()

    def get_context(self, study: ImportedStudy) -> Context:
        """Return the context of a study."""
        return study.context

    def make_layout(self, study: ImportedStudy) -> Layout:
        """Return the paths of a study's results."""
        return Layout(study.root, study.root)

    def list_tables(self, study: ImportedStudy) -> list[str]:
        """Return the names of the study's tables that figures, claims or the report read."""
        return list(study.tables)

    def list_parts(self, study: ImportedStudy) -> dict[str, list[str]]:
        """Return no parts: imported tables are whole."""
        return {}

    def find_missing(self, name: str, study: ImportedStudy) -> str | None:
        """Return why a study cannot have a target, or None if it can.

        Args:
            name: Name of the target.
            study: The study.
        """
        return missing_requirement(name, study.context, {*study.tables, *study.imported})

    def list_unavailable(self, study: ImportedStudy) -> dict[str, str]:
        """Return no targets: the report does not list them, as no setting provides them."""
        return {}

    def list_further_members(self, study: ImportedStudy) -> list[str]:
        """Return no members but tables, figures and pages."""
        return []

    def plan(self, study: ImportedStudy, device: str | None, all_jobs: Counter, missing_jobs: Counter) -> str:
        """Return the plan of a run as text; no job takes more than a minute.

        Args:
            study: The study.
            device: Not used: no job runs a model.
            all_jobs: Number of jobs by rule.
            missing_jobs: Number of jobs by rule whose results do not exist.
        """
        total = format_count(sum(all_jobs.values()), "job")
        return f"{study.study}: {sum(missing_jobs.values()):,} of {total} to do, about a minute"


class PublishedSettings(Block):
    """Settings of the published results of one task."""

    experiment: Literal["published"]
    results: str
    arithmetic: str
    folder: str
    task: str
    groups: dict[str, str]


class PublishedResults(ImportedSubnetworks):
    """The authors' published results of one task."""

    def list_studies(self, values: Mapping[str, Any], base: Study) -> dict[str, dict]:
        """Return the settings of a study for each task in the folder ``published``, by the prefix of its rules.

        Args:
            values: Snakemake's configuration.
            base: The study that it configures, whose `results` and `arithmetic` are taken.

        Raises:
            InputError: If a file or ``published_groups`` is invalid.
        """
        groups = values.get("published_groups") or {}
        if not isinstance(groups, dict):
            raise InputError(f"published_groups = {groups!r} must map names to groups, such as '{{name: group}}'")
        common = {"results": base.results, "arithmetic": base.arithmetic, "folder": str(values["published"])}
        return {
            f"published_{source.task}_": common | {"experiment": "published", "task": source.task, "groups": groups}
            for source in read_studies(common["folder"], groups)
        }

    def parse(self, values: dict, origin: str = "configuration") -> ImportedStudy:
        """Read the published results of a task.

        Args:
            values: The configuration.
            origin: Its file, for messages.

        Raises:
            ConfigError: If a setting is invalid.
            InputError: If a file is invalid.
        """
        settings = validate(PublishedSettings, values, origin)
        sources = {source.task: source for source in read_studies(settings.folder, settings.groups)}
        if settings.task not in sources:
            raise ConfigError(f"{origin}: task = {settings.task!r}: choose from {', '.join(sources)}")
        source, printed = sources[settings.task], bool(load_paper_results(settings.task))
        tables = ["accuracy", "finetune_accuracy", "actual_sparsity", *(["ablations"] if printed else [])]
        shown_only = ["core_null"] if printed else []
        return ImportedStudy(
            source.name,
            settings.results,
            settings.arithmetic,
            f"{settings.results}/{source.name}",
            source,
            (*tables, *COMPUTED_TABLES),
            source.context,
            source.figures,
            source.analysis,
            (*tables, *shown_only),
        )


class ArchiveSettings(Block):
    """Settings of an archive that is drawn again."""

    experiment: Literal["archive"]
    results: str
    arithmetic: str
    path: str


class Archive(ImportedSubnetworks):
    """An archive that `export` wrote, drawn again."""

    def list_studies(self, values: Mapping[str, Any], base: Study) -> dict[str, dict]:
        """Return the settings of the study in the archive ``crate``, by the prefix of its rules.

        Args:
            values: Snakemake's configuration.
            base: The study that it configures, whose `results` and `arithmetic` are taken.
        """
        settings = {"results": base.results, "arithmetic": base.arithmetic, "path": str(values["crate"])}
        return {"redrawn_": settings | {"experiment": "archive"}}

    def parse(self, values: dict, origin: str = "configuration") -> ImportedStudy:
        """Read an archive.

        Args:
            values: The configuration.
            origin: Its file, for messages.

        Raises:
            InputError: If a setting is invalid, or the file is no archive of a study.
        """
        settings = validate(ArchiveSettings, values, origin)
        crate = open_crate(settings.path)
        root = f"{settings.results}/from-crate/{crate.study}"
        tables, values = tuple(crate.tables), (settings.results, settings.arithmetic)
        return ImportedStudy(crate.study, *values, root, crate, tables, crate.context, crate.figures)


PUBLISHED_RESULTS, ARCHIVE = PublishedResults(), Archive()
