"""Parameters that jobs of the heuristic core take beside those of :mod:`heuristic_core.common.roles`."""

import argparse
from typing import Annotated

from pydantic import ValidationError

from heuristic_core.common.roles import Read
from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.config.context import Context


def read_context(text: str) -> Context:
    """Read the context of a study.

    Args:
        text: Path of the study's configuration, or the context as JSON.

    Raises:
        argparse.ArgumentTypeError: If the configuration or context is invalid.
    """
    try:
        return (
            Context.model_validate_json(text) if text.lstrip().startswith("{") else Context.from_study(load_study(text))
        )
    except (ConfigError, ValidationError) as error:
        raise argparse.ArgumentTypeError(f"invalid context: {error}") from None


StudyContext = Annotated[Context, Read(read_context)]
