"""The two studies of a comparison: their folders and tables."""

import json
import re
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.report.settings import read_study
from heuristic_core.report.sides import check_study_folder, existing_files, parse_two_studies
from heuristic_core.tables.parquet import read_table

USAGE = (
    'compare="results/a results/b": two folders of finished studies, each with :<fine-tuning seed> for that run alone'
)
TABLES = (
    *("accuracy", "group_accuracy", "summary", "effective_size", "core", "components", "rank_correlation", "runs"),
    "chance",
    "claims",
)


class Side(NamedTuple):
    """A study, or one of its fine-tuning runs.

    Attributes:
        root: The study's folder.
        ft_seed: The fine-tuning seed of the run; None for the whole study.
    """

    root: Path
    ft_seed: int | None

    @property
    def name(self) -> str:
        """The name of the study's folder, with the fine-tuning seed if there is one."""
        return self.root.name if self.ft_seed is None else f"{self.root.name}-ft{self.ft_seed}"

    @property
    def inputs(self) -> list[Path]:
        """All files that a comparison reads."""
        return [*self.files, *sorted((self.root / "figures").glob("*"))]

    @property
    def files(self) -> list[Path]:
        """The paths of study.json and of the tables in `TABLES` that the study has."""
        return existing_files(self.root, TABLES)


def parse_sides(text: str) -> tuple[Side, Side]:
    """Parse two studies, such as "results/a results/b:1".

    Raises:
        InputError: If these are not two different folders of finished studies.
    """
    words = parse_two_studies(text, USAGE)
    a, b = (_side(word) for word in words)
    if a == b:
        raise InputError(
            f"compare = {text!r}: both sides are the same; choose two studies, or two runs such as {words[0]}:1"
        )
    return a, b


def _side(word: str) -> Side:
    """Parse one side, a folder with an optional fine-tuning seed."""
    path, ft_seed = re.fullmatch(r"(.*?)(?::(\d{1,10}))?", word, re.DOTALL).groups()
    root = check_study_folder(path, USAGE)
    side = Side(root, None if ft_seed is None else int(ft_seed))
    if len(side.files) == 1:
        raise InputError(f"compare: {root}/tables has none of {', '.join(TABLES)}; finish the run of this study first")
    return side


def load_side(side: Side) -> tuple[dict, Context]:
    """Load the tables in `TABLES` that the study has, by name, and its context; only rows of the side's run, if any.

    Raises:
        InputError: If the context is invalid, or the tables lack the run's fine-tuning seed.
    """
    tables = {path.stem: read_table(path) for path in side.files if path.suffix == ".parquet"}
    path = side.root / "study.json"
    try:
        context = Context.model_validate_json(json.dumps(read_study(path)["context"]))
    except ValidationError as error:
        raise InputError(f"{path}: context: {error}") from None
    if side.ft_seed is None:
        return tables, context
    available = sorted({int(seed) for table in tables.values() for seed in table["ft_seed"].dropna()})
    if side.ft_seed not in available:
        choices = ", ".join(map(str, available))
        raise InputError(f"compare: {side.root} has no fine-tuning seed {side.ft_seed}; choose from {choices}")
    return {name: table[(table["ft_seed"] == side.ft_seed).fillna(False)] for name, table in tables.items()}, context
