"""Job that downloads the files of a study, the only one that needs a network."""

import json
import logging
import os

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Output
from heuristic_core.config.models import AnyModel
from heuristic_core.config.tasks import AnyTask
from heuristic_core.data.download import list_downloads
from heuristic_core.data.fetch import fetch
from heuristic_core.data.hub import list_sources
from heuristic_core.data.split_files import find_missing_paths

LOGGER = logging.getLogger("heuristic_core.fetch")
# Use plain HTTP, which is tested. huggingface_hub reads this when it is imported.
os.environ["HF_HUB_DISABLE_XET"] = "1"


def fetch_sources(model: AnyModel, task: AnyTask, fetched: Output) -> None:
    """Download and check the files that a study needs from the Hugging Face hub or an address.

    Args:
        model: Settings of the model.
        task: Settings of the task.
        fetched: Where to list the files with their sizes and hashes (JSON).
    """
    rows = fetch(list_sources(model, task), list_downloads(task))
    write_text(fetched, json.dumps(rows, indent=1) + "\n")
    if missing := find_missing_paths(task):
        lines = (f"\n  {key} = {path}" for key, path in missing.items())
        LOGGER.warning("the study also needs these files, which have no address to download from:%s", "".join(lines))
