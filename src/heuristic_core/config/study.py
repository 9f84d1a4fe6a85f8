"""A study: all blocks together, the checks that tie them, and errors a person can act on."""

import difflib
from pathlib import Path
from typing import get_args

from pydantic import Field, ValidationError, model_validator

from heuristic_core.config.blocks import (
    Analysis,
    AnyModel,
    AnyTask,
    Block,
    Figures,
    Finetune,
    Grid,
    Name,
    NewModel,
    Prune,
)
from heuristic_core.errors import InputError


class ConfigError(InputError):
    """A configuration that cannot be run. The message names file, key, value and remedy."""


class Study(Block):
    """One model, one task, the grid of subnetworks, and how they are analysed and drawn."""

    study: Name = Field(description="name of the study; its results lie in <results>/<study>")
    results: str = Field("results", description="folder of all results, relative to the working directory")
    model: AnyModel
    task: AnyTask
    finetune: Finetune
    prune: Prune
    grid: Grid
    analysis: Analysis = Analysis()
    figures: Figures = Figures()

    @model_validator(mode="after")
    def _blocks_agree(self):
        kept, last = self.finetune.checkpoints, self.finetune.checkpoints[-1]
        for key, steps in (
            ("grid.checkpoints", self.grid.checkpoints),
            ("grid.early.checkpoint", [self.grid.early.checkpoint] if self.grid.early else []),
        ):
            if missing := [s for s in steps if s not in kept]:
                raise ValueError(
                    f"{key}: {missing[0]} is not a kept checkpoint; add it to finetune.checkpoints = {kept}"
                )
        if last not in self.grid.checkpoints:
            raise ValueError(f"grid.checkpoints: must contain the last kept checkpoint, {last}")
        if isinstance(self.model, NewModel) and self.task.max_length > self.model.architecture.positions:
            raise ValueError(
                f"task.max_length = {self.task.max_length} exceeds model.architecture.positions = "
                f"{self.model.architecture.positions}; lower the one or raise the other"
            )
        pairs = self.task.train_pairs
        for key in ("examples", "mean_examples"):
            if pairs is not None and (value := getattr(self.prune, key)) > pairs:
                raise ValueError(
                    f"prune.{key} = {value} exceeds task.train_pairs = {pairs}; lower it to at most {pairs}"
                )
        return self

    @property
    def last_checkpoint(self) -> int:
        return self.finetune.checkpoints[-1]


def parse_study(values: dict, origin: str = "configuration") -> Study:
    """Check `values` (a parsed configuration file). Raises ConfigError with one line per fault."""
    try:
        return Study.model_validate(values)
    except ValidationError as error:
        lines = [f"  {_explain(fault)}" for fault in error.errors()]
        raise ConfigError(f"{origin} cannot be run:\n" + "\n".join(dict.fromkeys(lines))) from None


def load_study(path: str | Path) -> Study:
    """Read and check a YAML configuration file."""
    import yaml

    try:
        values = yaml.safe_load(Path(path).read_text())
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file; give the path of a study's configuration, such as config.yaml"
        ) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected `key: value` lines, found {type(values).__name__}")
    return parse_study(values, str(path))


def _explain(fault: dict) -> str:
    """One pydantic fault as `key = value: what is wrong; what would be right`."""
    loc = [part for part in fault["loc"] if part not in ("new", "pretrained", "generated", "files")]
    key = ".".join(map(str, loc))
    if fault["type"] == "extra_forbidden":
        return f"{key} = {fault['input']!r}: unknown key; {_known_keys(fault['loc'])}"
    if fault["type"] == "missing":
        return f"{key}: missing; this key has no default"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "value_error":  # such a message names its keys and values itself
        return f"{key}: {message}" if key else message
    value = repr(fault["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    return f"{key} = {value}: {message[0].lower()}{message[1:]}"


def _known_keys(loc: tuple) -> str:
    """Which keys stand where an unknown one was found, the nearest first."""
    *parents, unknown = map(str, loc)
    block = Study
    for part in parents:
        block = _descend(block, part)
        if block is None:
            return "remove it"
    keys = list(block.model_fields)
    near = difflib.get_close_matches(unknown, keys, n=1)
    return f"did you mean {near[0]}?" if near else f"remove it, or use one of: {', '.join(keys)}"


def _descend(annotation, part: str):
    """The Block behind `part`: a field of a block, the tag of a union, or an item of a list or dict."""
    if isinstance(annotation, type) and issubclass(annotation, Block) and part in annotation.model_fields:
        annotation = annotation.model_fields[part].annotation
    blocks = [a for a in _flatten(annotation) if isinstance(a, type) and issubclass(a, Block)]
    tagged = [b for b in blocks if "source" in b.model_fields and part in get_args(b.model_fields["source"].annotation)]
    if tagged or len(blocks) == 1:
        return (tagged or blocks)[0]
    return _Union(blocks) if blocks else None


class _Union:
    """Blocks among which the next part of a location, a tag, chooses."""

    def __init__(self, blocks):
        self.blocks = blocks


def _flatten(annotation):
    if isinstance(annotation, _Union):
        return annotation.blocks
    inner = get_args(annotation)
    return [leaf for a in inner for leaf in _flatten(a)] if inner else [annotation]
