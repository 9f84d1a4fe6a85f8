"""A study as one object: its tables, its subnetworks and its models, each read when it is asked for.

Torch is imported as the first model is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.config.paths import Layout
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.report.results import Results
from heuristic_core.tables.identity import Identity

if TYPE_CHECKING:
    from heuristic_core.experiments.heuristic_core.jobs.classifier import Classifier

CHECKPOINT = r"ft(?P<ft_seed>\d+)/step(?P<step>\d+)"
CELL = rf"{CHECKPOINT}/s(?P<sparsity>[\d.]+)/seed(?P<seed>\d+)(/repeat(?P<repeat>\d+))?"
FILE = "subnetwork.json"


class OpenedStudy(Results):
    """The results of one model on one task. An unpacked archive has tables and subnetworks, and no models."""

    @property
    def subnetworks(self) -> list[Identity]:
        """Every pruning run that is there; also one that failed, of which :meth:`subnetwork` says why."""
        return self._found(CELL, FILE)

    @property
    def checkpoints(self) -> list[Identity]:
        """Every fine-tuned model that is there."""
        return self._found(CHECKPOINT, "checkpoint/config.json")

    def subnetwork(self, ft_seed: int, step: int, sparsity: float, seed: int, repeat: int = 0) -> Subnetwork:
        """What one pruning run kept. sparsity: the share of components that it was to remove, 0-1.

        Raises InputError, which says what there is, where the run is not there; and where it failed.
        """
        wanted = {"ft_seed": ft_seed, "step": step, "sparsity": sparsity, "seed": seed, "repeat": repeat}
        run = self._only("subnetworks", self.subnetworks, wanted)
        pattern = self._layout.again if run.repeat else self._layout.cell
        return Subnetwork.load(self.folder / self._path_of(pattern, run) / FILE)

    def model(
        self,
        ft_seed: int | None = None,
        step: int | None = None,
        sparsity: float | None = None,
        seed: int | None = None,
        device: str = "cpu",
    ) -> Classifier:
        """The fine-tuned model; with `sparsity` and `seed`, its subnetwork of this pruning run.

        ft_seed: default the first. step: default the last. device: cpu or cuda. Removed components put out their means.
        Raises InputError, which says what there is, where the model or the subnetwork is not there.
        """
        there = self.checkpoints
        ft_seed = min((one.ft_seed for one in there), default=None) if ft_seed is None else ft_seed
        step = max((one.step for one in there if one.ft_seed == ft_seed), default=None) if step is None else step
        run = self._only("models", there, {"ft_seed": ft_seed, "step": step})
        pruned = sparsity is not None or seed is not None
        subnetwork = self.subnetwork(run.ft_seed, run.step, sparsity, seed) if pruned else None
        from heuristic_core.experiments.heuristic_core.jobs.classifier import Classifier

        full = Classifier.load(
            run,
            self.folder / self._path_of(self._layout.step, run),
            max_length=self.settings["task"]["max_length"],
            device=device,
            precision=self.settings["precision"],
        )
        return full.pruned(subnetwork) if subnetwork else full

    def ablate(
        self, components: Sequence[str], ft_seed: int | None = None, step: int | None = None, device: str = "cpu"
    ) -> Classifier:
        """The fine-tuned model without some heads ("1.0") or MLPs ("mlp 1"): see :meth:`model`, and its `ablate`."""
        return self.model(ft_seed, step, device=device).ablate(components)

    @property
    def _names(self) -> tuple[str, str]:
        """Of the model and of the task. Raises InputError for imported results, which name neither."""
        try:
            return self.settings["model"]["name"], self.settings["task"]["name"]
        except KeyError:
            raise InputError(
                f"{self.folder} has imported results: tables alone, neither subnetworks nor models"
            ) from None

    @property
    def _layout(self) -> Layout:
        """Patterns of paths below the folder."""
        return Layout(".", "/".join(self._names))

    def _path_of(self, pattern: str, run: Identity) -> str:
        return pattern.format(ft_seed=run.ft_seed, step=run.step, sparsity=f"{run.sparsity:g}", seed=run.seed)

    def _found(self, pattern: str, file: str) -> list[Identity]:
        """The runs whose folder, which `pattern` describes, has `file`; in ascending order."""
        root = self.folder / self._layout.runs
        folders = (path.relative_to(root).as_posix().removesuffix(f"/{file}") for path in root.glob(f"**/{file}"))
        matches = (re.fullmatch(pattern, folder) for folder in folders)
        found = [match.groupdict() for match in matches if match]
        runs = [
            Identity(self.folder.name, *self._names, **{key: _number(key, text) for key, text in one.items() if text})
            for one in found
        ]
        return sorted(runs, key=lambda run: run[3:])

    def _only(self, what: str, there: Sequence[Identity], wanted: dict[str, Any]) -> Identity:
        """The one of `there` that has the values `wanted`. Raises InputError, which names the first that none has."""
        if not there:
            raise InputError(f"{self.folder} has no {what}; in an archive there are tables and subnetworks alone")
        asked: list[str] = []
        for key, value in wanted.items():
            values = sorted({getattr(run, key) for run in there})
            there = [run for run in there if getattr(run, key) == value]
            asked.append(f"{key} = {value!r}")
            if not there:
                choice = ", ".join(map(str, values))
                raise InputError(f"{self.folder} has no {what} of {', '.join(asked)}; for {key} give one of {choice}")
        return there[0]


def _number(key: str, text: str) -> int | float:
    return float(text) if key == "sparsity" else int(text)
