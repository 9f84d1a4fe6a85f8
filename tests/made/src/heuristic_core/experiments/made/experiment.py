"""The experiment "made": squares of integers."""

from pathlib import Path
from typing import Literal

from heuristic_core.config.blocks import Block, Name
from heuristic_core.config.reading import validate
from heuristic_core.provenance.crate.subject import Subject

COMMANDS = ()
CLAIMS = Path(__file__).with_name("claims.yaml")


class Study(Block):
    experiment: Literal["made"]
    study: Name
    results: str = "results"
    arithmetic: Literal["portable", "native"] = "portable"
    largest: int

    @property
    def root(self) -> str:
        return f"{self.results}/{self.study}"


def parse(values, origin="configuration"):
    return validate(Study, values, origin)


def plan(study, device, wanted, missing):
    return f"{study.study}: {missing.total()} of {wanted.total()} jobs to do"


def members(study):
    return ["study.json", "tables/squares.parquet"]


def subject(study):
    return Subject("numbers squared", "Squares", "arXiv:2501.18666", lambda path: None)


def list_drawing_modules(script, settings):
    return []


def warnings(root):
    return []
