"""A reference of an experiment's configuration, written from the blocks themselves.

Keys, types, limits, defaults, units and meanings are from the pydantic models: a meaning from a field's description, a
unit from the :class:`heuristic_core.config.blocks.Unit` of its annotation.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from heuristic_core.config.blocks import NAME_PATTERN, Unit

SEED_LIMIT = 2**31  # a limit of the generators, not of a setting
FIELDS = ("key", "type", "default", "unit", "meaning")
PATTERNS = {
    NAME_PATTERN: "name",
    r"^[\w./-]+$": "path",
    r"^\d+\.\d+$": "`layer.head`",
    r"^[0-9a-f]{40}$": "40 hex digits",
    r"^[0-9a-f]{64}$": "64 hex digits",
    r"^([0-9a-f]{40}|step\d+-tokens\d+B)$": "40 hex digits, or `step<n>-tokens<n>B`",
    r"^[\w.-]+(/[\w.-]+)?$": "`owner/name`",
    r"^https?://[^\s/]+/\S+$": "http(s) address",
}


class ReferencePage(NamedTuple):
    """The page of an experiment's settings.

    Attributes:
        page: File below docs/.
        intro: The page's beginning.
        study: The outermost block.
        titles: Path of a block -> its title and its path in keys.
    """

    page: str
    intro: str
    study: type[BaseModel]
    titles: Mapping[str, tuple[str, str]] = {}


class Section(NamedTuple):
    """One block of the configuration. path: the keys that lead to it."""

    title: str
    path: str
    block: type[BaseModel]
    targets: tuple[str, ...] = ()  # of blocks that are all alike, the keys


def render_reference(words: ReferencePage) -> str:
    """Render the whole page as Markdown."""
    parts = (
        f"## {section.title}\n\n{render_docstring(section)}\n\n{render_table(section)}"
        for section in list_sections(words)
    )
    return "\n".join((words.intro, *parts))


def list_sections(words: ReferencePage) -> Iterator[Section]:
    """Yield every block of a study, in the order of a configuration file. Blocks that are all alike are one section."""
    yield Section("The study", "", words.study)
    for name, field in words.study.model_fields.items():
        for block in _blocks_in(field.annotation):
            source = block.model_fields.get("source")
            variant = f", `source: {source.annotation.__args__[0]}`" if source else ""
            yield from _nested(Section(f"`{name}`{variant}", name, block), words)


def render_table(section: Section) -> str:
    """Render the fields of a section as a Markdown table, one row each."""
    rows = [FIELDS, ("---",) * len(FIELDS), *(render_row(section, name) for name in section.block.model_fields)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def render_row(section: Section, name: str) -> tuple[str, ...]:
    """Return the key, type, default, unit and meaning of one field as the cells of a row.

    Args:
        section: The block that has the field.
        name: Name of the field.
    """
    field, schema = section.block.model_fields[name], section.block.model_json_schema()["properties"][name]
    meaning, _, default = (field.description or "").partition("default: ")
    meaning = meaning.rstrip("; ") or ("see below" if describe_type(schema) == "block" else "")
    default = "required" if field.is_required() else default or _value(field.get_default(call_default_factory=True))
    key = f"{section.path}.{name}".lstrip(".")
    return tuple(map(_cell, (f"`{key}`", describe_type(schema), default, find_unit(field) or "", meaning)))


def find_unit(field: FieldInfo) -> str | None:
    """Return the unit of a field, the outermost of its annotation; "" for a pure number, None if it has none."""
    units = [item.name for item in field.metadata if isinstance(item, Unit)]
    return units[-1] if units else None


def describe_type(schema: dict) -> str:
    """Describe the type of a JSON schema in words, with its limits."""
    if "anyOf" in schema:
        return " or ".join(describe_type(option) for option in schema["anyOf"] if option.get("type") != "null")
    if "$ref" in schema or "oneOf" in schema:
        return "block"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    match schema["type"]:
        case "array" if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])}: {describe_type(schema['prefixItems'][0])}"
        case "array":
            count = schema.get("minItems", 0)
            length = f" of {count}" if count == schema.get("maxItems") else f" (at least {count})" if count > 1 else ""
            return f"list{length}: {describe_type(schema['items'])}"
        case "object":
            (inner,) = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()][-1:]
            return "mapping" if inner in (True, {}) else f"mapping to {describe_type(inner)}"
        case "string":
            return PATTERNS[schema["pattern"]] if "pattern" in schema else "text"
        case "boolean":
            return "`true`, `false`"
        case number:
            return number + _limits(schema)


def render_docstring(section: Section) -> str:
    """Return a block's docstring, with Markdown's marks in place of those of reStructuredText."""
    text = re.sub(r"\n *", "\n", section.block.__doc__.strip())
    if section.targets:
        text += f" The targets are {', '.join(f'`{name}`' for name in section.targets)}."
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")


def _nested(section: Section, words: ReferencePage) -> Iterator[Section]:
    """Yield a section and those inside it."""
    inside = [
        (name, block) for name, field in section.block.model_fields.items() for block in _blocks_in(field.annotation)
    ]
    targets, blocks = [name for name, _ in inside], {block for _, block in inside}
    if len(targets) == len(section.block.model_fields) and len(blocks) == 1:
        path = f"{section.path}.<target>"
        yield Section(f"`{path}`", path, blocks.pop(), tuple(targets))
        return
    yield section
    for name, block in inside:
        path = f"{section.path}.{name}"
        yield from _nested(Section(*words.titles.get(path, (f"`{path}`", path)), block), words)


def _blocks_in(annotation) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [block for part in getattr(annotation, "__args__", ()) for block in _blocks_in(part)]


def _limits(schema: dict) -> str:
    """Return the limits of a number as text.

    Pydantic writes each limit under one of two names; of two lower or upper limits, the closer is shown.
    """
    above, below = schema.get("exclusiveMinimum", schema.get("gt")), schema.get("exclusiveMaximum", schema.get("lt"))
    parts = {
        ">": above,
        "≥": schema.get("minimum", schema.get("ge")) if above is None else None,
        "<": below if below != SEED_LIMIT else None,
        "≤": schema.get("maximum", schema.get("le")) if below is None else None,
    }
    return "".join(f", {sign} {limit:g}" for sign, limit in parts.items() if limit is not None)


def _value(value) -> str:
    match value:
        case None:
            return "*none*"
        case BaseModel() if explicit := value.model_dump(include=value.model_fields_set):
            return _value(explicit)
        case BaseModel():
            return "see below"
        case bool():
            return f"`{str(value).lower()}`"
        case list() | tuple():
            return f"`[{', '.join(_plain(item) for item in value)}]`"
        case dict():
            return f"`{{{', '.join(f'{key}: {_plain(item)}' for key, item in value.items())}}}`"
        case _:
            return f"`{_plain(value)}`"


def _plain(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(text: str) -> str:
    """Escape marks of tables and of HTML in the text of a cell, except within code."""
    parts = text.replace("|", "\\|").replace("\n", " ").split("`")
    return "`".join(part if index % 2 else part.replace("<", "&lt;") for index, part in enumerate(parts))
