"""Files of findings (findings.yaml): the order in which a report shows claims and figures."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.reading import read_config, validate


class Finding(Block):
    """A section of a report: a statement of the paper, the figure that shows it, and the claims that test it."""

    finding: Name
    title: str = Field(description="the statement, in plain words")
    text: str = Field(description="what the figure and the claims show, and terms at their first use")
    targets: list[str] = Field(min_length=1, description="figures and tables; those that a study lacks are left out")
    claims: list[str] = Field(min_length=1, description="claims that test the statement")
    checks: list[str] = Field([], description="checks that could speak against the statement")


class OtherSeeds(Block):
    """A shipped table of how many other training seeds each claim holds for, see `config/replicates.yaml`."""

    study: Name = Field(description="study whose recipe it repeats; reports of other studies do not show it")
    table: str = Field(description="Parquet file, relative to the repository")


class Findings(Block):
    """Contents of findings.yaml."""

    findings: Annotated[list[Finding], Field(min_length=1)]
    other_seeds: OtherSeeds | None = None


def load_findings(path: str | Path) -> Findings:
    """Read and check a file of findings.

    Raises:
        ConfigError: If the file is invalid; the message has one line per error.
    """
    return validate(Findings, read_config(path), str(path))
