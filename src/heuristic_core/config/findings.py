"""Files of findings (findings.yaml): what a report shows, in the order of the paper, and which claims answer it."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from heuristic_core.config.blocks import Block, Name, check_unique
from heuristic_core.config.reading import read_config, validate

UniqueNames = Annotated[list[Name], AfterValidator(check_unique)]


class ReplicatesTable(Block):
    """On how many further training seeds of a study each claim holds."""

    study: Name = Field(description="the study that the seeds belong to")
    table: str = Field(description="path in the repository of a table written by `table_replicates` (Parquet)")


class Finding(Block):
    """One question of the paper. Texts are templates with the variables of the experiment's report."""

    finding: Name
    title: str
    text: str = Field(description="what is asked and how it is measured, without a result; explains words on first use")
    targets: UniqueNames = Field(description="figures and tables that show it")
    claims: dict[Name, str] = Field(min_length=1, description="claims that answer it, each in plain words")
    against: dict[Name, Literal["supported", "contradicted"]] = Field(
        {}, description="checks, each with the verdict that would speak against the finding"
    )
    runs: Literal["none", "spread", "curve", "all"] = Field(
        "none", description="pruning runs that it rests on: of both main sparsities, of the last checkpoint, or all"
    )


class Findings(Block):
    """All findings of an experiment, in the order of its report."""

    replicates: ReplicatesTable | None = None
    findings: list[Finding] = Field(min_length=1)

    @model_validator(mode="after")
    def _answer_one_finding(self) -> Self:
        check_unique([finding.finding for finding in self.findings])
        check_unique([claim for finding in self.findings for claim in finding.claims])
        return self


def load_findings(path: str | Path) -> Findings:
    """Read and check a file of findings.

    Raises:
        ConfigError: If the file is invalid; the message has one line per error.
    """
    return validate(Findings, read_config(path), str(path))
