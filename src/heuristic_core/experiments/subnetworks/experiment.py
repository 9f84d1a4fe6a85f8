"""The experiment "heuristic-core"."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from heuristic_core.common.progress import read_warnings
from heuristic_core.config.reading import ConfigError
from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.subnetworks import PAPER
from heuristic_core.experiments.subnetworks.config import context
from heuristic_core.experiments.subnetworks.config.cells import list_cells, pruned_steps, repeated_cells
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.experiments.subnetworks.config.study import Study, parse_study
from heuristic_core.experiments.subnetworks.config.sweep import parse_sweep
from heuristic_core.experiments.subnetworks.figures.targets import (
    TARGETS,
    missing_study_requirement,
    shows_subnetworks,
    unavailable_targets,
)
from heuristic_core.experiments.subnetworks.report.sides import USAGE, parse_sides
from heuristic_core.experiments.subnetworks.study_results import StudyResults
from heuristic_core.experiments.subnetworks.tables.schemas import TABLES
from heuristic_core.jobs.command import format_block
from heuristic_core.jobs.environment import prepare_drawing
from heuristic_core.plan.needs import Need
from heuristic_core.report.results import Results
from heuristic_core.report.sides import Comparison
from heuristic_core.study.experiment import Experiment

SETTING_KEYS = {f"context.{field}": key for field, key in context.KEYS.items()}


class Subnetworks(Experiment):
    """Subnetworks of one model that generalise differently, and the heads that all of them share (arXiv 2403.03942)."""

    folder = Path(__file__).parent
    tables, targets, layout = TABLES, TARGETS, Layout
    paper = PAPER
    commands = ("compare", "publish", "licence", "published_groups")
    comparison = Comparison("compare", USAGE, parse_sides)
    sweep = staticmethod(parse_sweep)
    setting_keys = SETTING_KEYS

    def parse(self, values: dict, origin: str = "configuration") -> Study:
        """Check a configuration.

        Args:
            values: The configuration. Its key `experiment` is optional.
            origin: Its file, for messages.

        Raises:
            ConfigError: If they are invalid.
        """
        if not {"experiment", "task"} & values.keys():
            raise ConfigError(
                f"{origin}: experiment and task are missing; if this file changes another one, pass both, such as "
                'CONFIG="config.yaml config/mechanism.yaml"'
            )
        return parse_study({key: value for key, value in values.items() if key != "experiment"}, origin)

    def plan(self, study: Study, device: str | None, all_jobs: Counter, missing_jobs: Counter) -> str:
        """Return the plan of a run as text.

        Args:
            study: The study.
            device: A device of plan/devices.yaml, for which times are estimated; default: that of the study's kind.
            all_jobs: All jobs of the run, by rule.
            missing_jobs: Jobs without an up-to-date result, by rule.
        """
        from heuristic_core.experiments.subnetworks.plan import report
        from heuristic_core.plan import devices

        name = device or devices.DEFAULT_DEVICES[study.device]
        return report.plan(study, name, devices.get_device(name), all_jobs, missing_jobs)

    def estimate_needs(self, study: Study) -> dict[str, Need]:
        """Return what one job of each rule requests from a cluster, for rules that need more than a small table."""
        from heuristic_core.experiments.subnetworks.plan import needs

        return needs.estimate_needs(study)

    def describe(self, study: Study) -> tuple[str, str]:
        """Return what a run of the study did and what came out, for its archive."""
        subject = f"{study.model.name} on {study.task.name}"
        return (
            f"{subject}: fine-tuned, pruned, analysed and drawn",
            f"Subnetworks of {subject}: configuration, tables, subnetworks, figures and provenance",
        )

    def list_wildcards(self, study: Study) -> dict[str, Sequence]:
        """Return the values of the wildcards in the patterns of tables' parts, by their names."""
        return {
            "ft_seed": study.finetune.seeds,
            "step": pruned_steps(study),
            "circuit_step": study.grid.checkpoints,
            "lesion": context.Context.from_study(study).lesions,
        }

    def find_missing(self, name: str, study: Study) -> str | None:
        """Return why a study cannot have a target, or None if it can.

        Args:
            name: Name of the target.
            study: The study.
        """
        return missing_study_requirement(name, study)

    def list_unavailable(self, study: Study) -> dict[str, str]:
        """Return the targets that a study cannot have, with reasons, except those it has under another name."""
        return unavailable_targets(study)

    def list_further_members(self, study: Study) -> list[str]:
        """Return the paths of the subnetworks."""
        layout = self.make_layout(study)
        return [
            pattern.format(ft_seed=ft_seed, step=cell.step, sparsity=f"{cell.sparsity:g}", seed=cell.seed)
            + "/subnetwork.json"
            for pattern, cells in ((layout.cell, list_cells(study)), (layout.repeated_cell, repeated_cells(study)))
            for ft_seed in study.finetune.seeds
            for cell in cells
        ]

    def describe_file(self, path: Path) -> str | None:
        """Return one line on a subnetwork, a figure or a printed table; None for other files."""
        if path.name == "subnetwork.json":
            return f"Subnetwork {'/'.join(path.parts[2:-1])}: the components kept, the sparsity reached, the log alphas"
        return super().describe_file(path)

    def get_context(self, study: Study) -> context.Context:
        """Return the context of a study."""
        return context.Context.from_study(study)

    def list_table_files(self, name: str, table: str, study: Study) -> list[str]:
        """Return the files from which a target reads a table: the last checkpoint's parts if it shows no other.

        Args:
            name: Name of the target.
            table: Name of the table.
            study: The study.
        """
        folder = f"/step{self.get_context(study).last}/"
        parts = self.list_parts(study).get(table, []) if self.targets[name].only_last_checkpoint else []
        return [path for path in parts if folder in path] or super().list_table_files(name, table, study)

    def figure_settings(self, name: str, study: Study) -> dict[str, str]:
        """Return the settings of the job that draws a target. What it does not show stays out, as changes redraw it.

        Args:
            name: Name of the target.
            study: The study.
        """
        tables = self.targets[name].tables
        keys = {"mid", "high", "last", "subsets", "names", "counterpart"}
        keys |= {"seeds", "curve_seeds", "curve_repeat"} if shows_subnetworks(name) else set()
        keys |= {"early", "early_seeds"} if "core_null" in tables else set()
        keys |= {"entry"} if "entry_frequency" in tables else set()
        keys |= {"margin", "size_rule", "size_order", "mixed"} if "effective_size" in tables else set()
        return {
            "figures": format_block(study.figures, {name}),
            "context": format_block(self.get_context(study), keys),
        }

    def claim_settings(self, study: Study) -> dict[str, str]:
        """Return the settings of the job that judges claims."""
        return {"context": format_block(self.get_context(study))}

    def report_settings(self, study: Study) -> dict[str, str]:
        """Return the settings of the job that writes the report, besides those of every experiment."""
        return {"context": format_block(self.get_context(study))}

    def list_warnings(self, root: str) -> list[str]:
        """Return warnings of missing, omitted or truncated data, and of failures in fine-tuning and pruning."""
        from heuristic_core.experiments.subnetworks.report.page import collect_warnings

        logs = [Path(root) / "logs" / f"{job}.log" for job in ("sentences", "encode")]
        messages = [f"{log.parts[-3]}: {text}. See {log}" for log in logs for text in read_warnings(log)]
        glyphs = _find_missing_glyphs(Path(root) / "tables" / "splits.parquet")
        return [*messages, *collect_warnings([root]), *(f"{Path(root).name}: {text}." for text in glyphs)]

    def make_reference(self) -> ReferencePage:
        """Return the texts of the settings page that the settings lack."""
        from heuristic_core.experiments.subnetworks.config.reference import REFERENCE

        return REFERENCE

    def open_results(self, results: Results) -> StudyResults:
        """Return the results of a study, with its subnetworks and models."""
        return StudyResults(results.folder, results.settings)


def _find_missing_glyphs(splits: Path) -> list[str]:
    """Return a warning of characters in names of subsets that figures cannot show; none before the table exists."""
    from heuristic_core.tables.parquet import read_table

    names = read_table(splits)["subset"].dropna() if splits.exists() else []
    if all(name.isascii() for name in names):
        return []
    prepare_drawing()
    from heuristic_core.figures.glyphs import missing_glyph_warning

    return [text] if (text := missing_glyph_warning(names)) else []


EXPERIMENT = Subnetworks()
