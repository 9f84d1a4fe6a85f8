"""Results of a study of the heuristic core: tables, subnetworks and models, read on demand.

The first model imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heuristic_core.common.errors import InputError
from heuristic_core.config.tasks import parse_task
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.report.results import Results
from heuristic_core.tables.identity import Identity

if TYPE_CHECKING:
    from heuristic_core.experiments.subnetworks.jobs.classifier import Classifier

CHECKPOINT_PATTERN = r"ft(?P<ft_seed>\d+)/step(?P<step>\d+)"
CELL_PATTERN = rf"{CHECKPOINT_PATTERN}/s(?P<sparsity>[\d.]+)/seed(?P<seed>\d+)(/repeat(?P<repeat>\d+))?"
SUBNETWORK_FILE = "subnetwork.json"


class StudyResults(Results):
    """Results of one model on one task. An unpacked archive has tables and subnetworks but no models."""

    @property
    def subnetworks(self) -> list[Identity]:
        """All pruning runs with results, including failed ones; :meth:`subnetwork` raises their error."""
        return self._list_runs(CELL_PATTERN, SUBNETWORK_FILE)

    @property
    def checkpoints(self) -> list[Identity]:
        """All fine-tuned models with a checkpoint."""
        return self._list_runs(CHECKPOINT_PATTERN, "checkpoint/config.json")

    def subnetwork(self, ft_seed: int, step: int, sparsity: float, seed: int, repeat: int = 0) -> Subnetwork:
        """Return the subnetwork of one pruning run.

        Args:
            ft_seed: Fine-tuning seed.
            step: Fine-tuning step of the checkpoint.
            sparsity: Target share of removed components, 0-1.
            seed: Pruning seed.
            repeat: 1 for the second run of a repeated seed.

        Raises:
            InputError: If the run failed, or is missing; then the message lists the choices.
        """
        wanted = {"ft_seed": ft_seed, "step": step, "sparsity": sparsity, "seed": seed, "repeat": repeat}
        run = self._select_run("subnetworks", self.subnetworks, wanted)
        pattern = self._layout.repeated_cell if run.repeat else self._layout.cell
        return Subnetwork.load(self.folder / self._format_path(pattern, run) / SUBNETWORK_FILE)

    def model(
        self,
        ft_seed: int | None = None,
        step: int | None = None,
        sparsity: float | None = None,
        seed: int | None = None,
        device: str = "cpu",
    ) -> Classifier:
        """Return the fine-tuned model or, with `sparsity` and `seed`, its subnetwork of this pruning run.

        Removed components output their means.

        Args:
            ft_seed: Fine-tuning seed; default: the first.
            step: Fine-tuning step of the checkpoint; default: the last.
            sparsity: Target share of removed components, 0-1.
            seed: Pruning seed.
            device: "cpu" or "cuda".

        Raises:
            InputError: If the model or subnetwork is missing; the message lists the choices.
        """
        checkpoints = self.checkpoints
        ft_seed = min((run.ft_seed for run in checkpoints), default=None) if ft_seed is None else ft_seed
        step = max((run.step for run in checkpoints if run.ft_seed == ft_seed), default=None) if step is None else step
        run = self._select_run("models", checkpoints, {"ft_seed": ft_seed, "step": step})
        pruned = sparsity is not None or seed is not None
        subnetwork = self.subnetwork(run.ft_seed, run.step, sparsity, seed) if pruned else None
        from heuristic_core.experiments.subnetworks.jobs.classifier import Classifier

        task = parse_task(self.settings["task"])
        full = Classifier.load(
            run,
            self.folder / self._format_path(self._layout.step, run),
            max_length=task.max_length,
            sentence_count=task.sentence_count,
            has_target=task.has_target,
            device=device,
            precision=self.settings["precision"],
        )
        return full.apply_subnetwork(subnetwork) if subnetwork else full

    def ablate(
        self, components: Sequence[str], ft_seed: int | None = None, step: int | None = None, device: str = "cpu"
    ) -> Classifier:
        """Return the fine-tuned model without some components; see :meth:`model`.

        Args:
            components: Names of heads ("1.0") or MLPs ("mlp 1").
            ft_seed: Fine-tuning seed; default: the first.
            step: Fine-tuning step of the checkpoint; default: the last.
            device: "cpu" or "cuda".
        """
        return self.model(ft_seed, step, device=device).ablate(components)

    @property
    def _names(self) -> tuple[str, str]:
        """Names of the model and of the task.

        Raises:
            InputError: For imported results, which name neither.
        """
        try:
            return self.settings["model"]["name"], self.settings["task"]["name"]
        except KeyError:
            raise InputError(f"{self.folder} has imported results: tables only, no subnetworks or models") from None

    @property
    def _layout(self) -> Layout:
        """Path patterns, relative to the folder."""
        return Layout(".", "/".join(self._names))

    def _format_path(self, pattern: str, run: Identity) -> str:
        """Return the path of a run."""
        return pattern.format(ft_seed=run.ft_seed, step=run.step, sparsity=f"{run.sparsity:g}", seed=run.seed)

    def _list_runs(self, pattern: str, file: str) -> list[Identity]:
        """Return the runs whose folder matches `pattern` and has `file`, in ascending order."""
        root = self.folder / self._layout.runs
        folders = (path.relative_to(root).as_posix().removesuffix(f"/{file}") for path in root.glob(f"**/{file}"))
        matches = (re.fullmatch(pattern, folder) for folder in folders)
        keys = [match.groupdict() for match in matches if match]
        runs = [
            Identity(
                self.folder.name, *self._names, **{key: _parse_value(key, text) for key, text in values.items() if text}
            )
            for values in keys
        ]
        return sorted(runs, key=lambda run: run[3:])

    def _select_run(self, kind: str, runs: Sequence[Identity], wanted: dict[str, Any]) -> Identity:
        """Return the run with the values `wanted`.

        Raises:
            InputError: If there is none; the message names the first value without a run and lists the choices.
        """
        if not runs:
            raise InputError(f"{self.folder} has no {kind}; an archive has only tables and subnetworks")
        conditions: list[str] = []
        for key, value in wanted.items():
            values = sorted({getattr(run, key) for run in runs})
            runs = [run for run in runs if getattr(run, key) == value]
            conditions.append(f"{key} = {value!r}")
            if not runs:
                choice = ", ".join(map(str, values))
                raise InputError(
                    f"{self.folder} has no {kind} with {', '.join(conditions)}; choose {key} from {choice}"
                )
        return runs[0]


def _parse_value(key: str, text: str) -> int | float:
    """Return a number in a path: sparsity as float, others as int."""
    return float(text) if key == "sparsity" else int(text)
