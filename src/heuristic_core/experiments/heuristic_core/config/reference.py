"""The reference of the configuration, docs/configuration.md, written from the blocks themselves.

    python -m heuristic_core.experiments.heuristic_core.config.reference docs/configuration.md

Keys, types, limits, defaults and meanings are those of the pydantic models. UNITS adds what a model does not say, and
MEANINGS explains fields whose own description says at most a default or a unit.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from heuristic_core.config.blocks import NAME
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.heuristic_core.config.analysis import Figures
from heuristic_core.experiments.heuristic_core.config.study import Study

HEAD = """# Configuration reference

This page is written by `make docs` from the pydantic models in `config/` of the library and of the experiment. Do not
edit it.

A study is one YAML file. An unknown key or an impossible value stops a run before its first job, with one message that
names file, key, value and remedy. `required` means that the key has no default. *none* means that nothing is set.
Shares are numbers from 0 to 1.

Instead of a study, a file may hold one key, `studies`: a list of configuration files, relative to this file. One run
then makes all of these studies. `config/paper.yaml` is an example.

Later files of `--configfile A B` override earlier files key by key, also within blocks.
"""
SEEDS = 2**31  # a limit of the generators, not of a setting
FIELDS = ("key", "type", "default", "unit", "meaning")
# By unit, the fields that have it; by block and field where two blocks disagree. "" is a pure number.
FIELDS_OF = {
    "steps": "steps warmup_steps rise hold save_every evaluate_every measure_every checkpoint checkpoints",
    "steps per percent": "rise_per_percent hold_per_percent",
    "pairs": "batch_size examples mean_examples held_out id_pairs pairs_per_subcase train_pairs pairs ablation_pairs "
    "control_pairs importance_pairs attention_pairs",
    "tokens": "positions max_length pass_tokens",
    "share": "counter_examples sparsities mid high recovery agreement related chosen replaced kept Finetune.dropout "
    "label_smoothing thresholds added_modifiers shared_modifiers foreign_premises planted_words",
    "points": "margin margins",
    "inches": "width height",
    "sets": "control_draws pair_control_draws control_sets packing_controls random_sets random_senders",
    "threads": "threads",
    "layers": "layers",
    "heads": "heads",
    "samples": "gate_draws",
    "seeds": "together",
    "nats": "kl",
    "resamples": "bootstrap",
    "draws": "resample_draws",
    "permutations": "permutations",
    "subnetworks": "Masks.count",
    "times uniform": "overlap_times_uniform",
    "dots per inch": "dpi",
    "": "seed seeds curve_seeds repeats learning_rate controller_learning_rate weight_decay controller_weight_decay "
    "adam_betas adam_epsilon clip_norm log_alpha_mean log_alpha_std std embedding_scale query_key_scale "
    "counter_example_weights hidden feed_forward where",
}
UNITS = {field: unit for unit, fields in FIELDS_OF.items() for field in fields.split()}
MEANINGS = {
    "model": "what fine-tuning starts from: `source` chooses one of the two blocks below",
    "task": "where sentence pairs come from: `source` chooses one of the two blocks below",
    "name": "name, part of the paths of results",
    "format": "format of the file",
    "batch_size": "pairs in a step",
    "width": "width of the picture",
    "height": "height of the picture",
    "Finetune.dropout": "dropout rate",
    "source": "chooses this block",
    "evaluation": "test sets by name; see below",
    "layers": "number of layers",
    "std": "standard deviation of weights",
    "steps": "training steps",
    "learning_rate": "of AdamW at the end of warm-up",
    "warmup_steps": "steps over which the learning rate rises from 0",
    "weight_decay": "AdamW's",
    "adam_betas": "AdamW's decay rates of both moments",
    "adam_epsilon": "AdamW's term against division by zero",
    "label_smoothing": "share of each label's weight that is spread over all labels",
    "log_alpha_std": "standard deviation of log_alpha at the start",
    "train_pairs": "training pairs to draw",
    "mid": "the lower of the two sparsities of the spread",
    "high": "the higher of the two",
    "curve_seeds": "pruning seeds of curves and of effective size",
    "Counterpart.model": "the paper's model",
    "Counterpart.task": "the paper's task",
    "Early.checkpoint": "the step of the early checkpoint",
    "Finetune.seeds": "fine-tuning seeds: each is a model of its own",
    "GeneratedTask.seed": "of the drawn pairs",
    "Grid.checkpoints": "steps whose subnetworks give effective size; the last is the last kept one",
}
PATTERNS = {
    NAME: "name",
    r"^[\w./-]+$": "path",
    r"^\d+\.\d+$": "`layer.head`",
    r"^[0-9a-f]{40}$": "40 hex digits",
    r"^[0-9a-f]{64}$": "64 hex digits",
    r"^[\w.-]+(/[\w.-]+)?$": "`owner/name`",
    r"^https?://[^\s/]+/\S+$": "http(s) address",
}
SPLITS = {
    "task.train": ("An entry of `task.train`", "task.train.<number>"),
    "task.evaluation": ("An entry of `task.evaluation`", "task.evaluation.<name>"),
}


class Section(NamedTuple):
    """One block of the configuration. path: the keys that lead to it."""

    title: str
    path: str
    block: type[BaseModel]


def reference() -> str:
    """The whole page, as Markdown."""
    return "\n".join((HEAD, *(f"## {s.title}\n\n{text_of(s.block)}\n\n{table(s)}" for s in sections())))


def sections() -> Iterator[Section]:
    """Every block of a study, in the order of a configuration file. The blocks of figures are alike: one section."""
    yield Section("The study", "", Study)
    for name, field in Study.model_fields.items():
        for block in _blocks_in(field.annotation):
            source = block.model_fields.get("source")
            variant = f", `source: {source.annotation.__args__[0]}`" if source else ""
            yield from _nested(Section(f"`{name}`{variant}", name, block))


def table(section: Section) -> str:
    """The fields of a section, one row each."""
    rows = [FIELDS, ("---",) * len(FIELDS), *(row(section, name) for name in section.block.model_fields)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def row(section: Section, name: str) -> tuple[str, ...]:
    """Key, type, default, unit and meaning of one field."""
    block = section.block
    field, schema = block.model_fields[name], block.model_json_schema()["properties"][name]
    meaning, _, default = (field.description or "").partition("default: ")
    unit = said(UNITS, block, name) or ""
    meaning = meaning.rstrip("; ")
    if meaning in ("", unit):
        meaning = said(MEANINGS, block, name) or ("see below" if kind(schema) == "block" else "")
    default = "required" if field.is_required() else default or _value(field.default)
    key = f"{section.path}.{name}".lstrip(".")
    return tuple(map(_cell, (f"`{key}`", kind(schema), default, unit, meaning)))


def said(of: dict[str, str], block: type[BaseModel], name: str) -> str | None:
    """What one of the dictionaries above says of a field, if anything."""
    return of.get(f"{block.__name__}.{name}", of.get(name))


def kind(schema: dict) -> str:
    """The type of a JSON schema in words, with its limits."""
    if "anyOf" in schema:
        return " or ".join(kind(option) for option in schema["anyOf"] if option.get("type") != "null")
    if "$ref" in schema or "oneOf" in schema:
        return "block"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    match schema["type"]:
        case "array" if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])}: {kind(schema['prefixItems'][0])}"
        case "array":
            count = schema.get("minItems", 0)
            length = f" of {count}" if count == schema.get("maxItems") else f" (at least {count})" if count > 1 else ""
            return f"list{length}: {kind(schema['items'])}"
        case "object":
            (inner,) = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()][-1:]
            return f"mapping to {kind(inner)}"
        case "string":
            return PATTERNS[schema["pattern"]] if "pattern" in schema else "text"
        case "boolean":
            return "`true`, `false`"
        case number:
            return number + _limits(schema)


def text_of(block: type[BaseModel]) -> str:
    """A block's docstring, with Markdown's marks in place of those of reStructuredText."""
    text = re.sub(r"\n *", "\n", block.__doc__.strip())
    if block is Figure:
        text += f" The targets are {', '.join(f'`{name}`' for name in Figures.model_fields)}."
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")


def _nested(section: Section) -> Iterator[Section]:
    """A section and those inside it."""
    if section.block is Figures:
        yield Section("`figures.<target>`", "figures.<target>", Figure)
        return
    yield section
    for name, field in section.block.model_fields.items():
        for block in _blocks_in(field.annotation):
            path = f"{section.path}.{name}"
            yield from _nested(Section(*SPLITS.get(path, (f"`{path}`", path)), block))


def _blocks_in(annotation) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [block for part in getattr(annotation, "__args__", ()) for block in _blocks_in(part)]


def _limits(schema: dict) -> str:
    """The limits of a number: pydantic writes them under two names each, and of two lower or upper ones the closer."""
    above, below = schema.get("exclusiveMinimum", schema.get("gt")), schema.get("exclusiveMaximum", schema.get("lt"))
    parts = {
        ">": above,
        "≥": schema.get("minimum", schema.get("ge")) if above is None else None,
        "<": below if below != SEEDS else None,
        "≤": schema.get("maximum", schema.get("le")) if below is None else None,
    }
    return "".join(f", {sign} {limit:g}" for sign, limit in parts.items() if limit is not None)


def _value(value) -> str:
    match value:
        case None:
            return "*none*"
        case BaseModel():
            return "see below"
        case bool():
            return f"`{str(value).lower()}`"
        case list() | tuple():
            return f"`[{', '.join(_plain(item) for item in value)}]`"
        case dict():
            return "`{}`"
        case _:
            return f"`{_plain(value)}`"


def _plain(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(text: str) -> str:
    """Text of a cell: no mark of a table or of HTML in it, but within code."""
    parts = text.replace("|", "\\|").replace("\n", " ").split("`")
    return "`".join(part if index % 2 else part.replace("<", "&lt;") for index, part in enumerate(parts))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference())
