"""Files of claims (claims.yaml): statements of the paper that a study's tables support or contradict."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.reading import ConfigError, DuplicateKeyError, parse_yaml

LIMIT_PATTERN = r"(<|<=|>|>=) -?\d+(\.\d+)?( [a-z%]+)?$"
Option = str | float | int


class Precondition(Block):
    """A precondition: if it is not met, the claim does not apply. `statistic` as in :class:`Claim`."""

    statistic: str
    options: dict[str, Option] = Field({}, alias="with", description="of the statistic")
    threshold: str = Field(
        pattern=f"^{LIMIT_PATTERN}", description="what the statistic must be, such as `> 0 points`; no test"
    )


class Claim(Block):
    """One claim. `statistic` names a function that is registered with ``@statistic``."""

    claim: Name
    sentence: str
    paper: str = Field(description="where the paper says it, or why it is asked here")
    family: Name | None = Field(None, description="claims whose p are adjusted together; none: a check, not a claim")
    tables: list[str] = Field(min_length=1, description="tables that the statistic reads")
    optional_tables: list[str] = Field([], description="tables that it reads if the study has them")
    statistic: str
    options: dict[str, Option] = Field({}, alias="with", description="of the statistic")
    threshold: str = Field(
        pattern=f"^(p )?{LIMIT_PATTERN}",
        description="what the statistic must be, such as `> 20 %`; `p < 0.05` for a test",
    )
    needs: list[Precondition] = Field([], description="preconditions; where one is broken, the claim does not apply")

    @property
    def statistics(self) -> list["Claim | Precondition"]:
        """Preconditions and the claim itself: everything with a statistic and its options."""
        return [*self.needs, self]


Claims = TypeAdapter(Annotated[list[Claim], Field(min_length=1)])


def load_claims(path: str | Path) -> list[Claim]:
    """Read and check a file of claims.

    Raises:
        ConfigError: If the file is invalid; the message has one line per error.
    """
    try:
        values = parse_yaml(Path(path).read_text(encoding="utf-8"))
        claims = Claims.validate_python(values)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; it must list the claims, as claims.yaml does") from None
    except DuplicateKeyError as error:
        raise ConfigError(f"{path}: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from None
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))} = {e['input']!r}: {e['msg']}" for e in error.errors()]
        raise ConfigError(f"{path} is not a list of claims:\n" + "\n".join(lines)) from None
    names = [claim.claim for claim in claims]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path}: claim {repeated[0]} occurs twice; give every claim a unique name")
    return claims


def list_claim_tables(path: str | Path) -> set[str]:
    """Return the names of all tables that the claims in a file read."""
    return {table for claim in load_claims(path) for table in (*claim.tables, *claim.optional_tables)}
