"""Download what a study takes from the Hugging Face hub or an address, and check it. The only step with a network."""

import json
import logging
import os

from heuristic_core.common.atomic import write_text
from heuristic_core.config.models import AnyModel
from heuristic_core.config.tasks import AnyTask
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.sources.download import downloads
from heuristic_core.sources.fetch import fetch
from heuristic_core.sources.hub import sources
from heuristic_core.tasks.rows import missing_paths

LOGGER = logging.getLogger("heuristic_core.fetch")
# By plain HTTP, the one way that is tested; read when huggingface_hub is imported.
os.environ["HF_HUB_DISABLE_XET"] = "1"


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.settings("task", AnyTask)
    parser.writes(fetched="where to list the files with their sizes and hashes (JSON)")
    args = parser.read(arguments)
    rows = fetch(sources(args.model, args.task), downloads(args.task))
    write_text(args.fetched, json.dumps(rows, indent=1) + "\n")
    if missing := missing_paths(args.task):
        lines = (f"\n  {key} = {path}" for key, path in missing.items())
        LOGGER.warning("the study needs these files too, which it does not say how to download:%s", "".join(lines))


if __name__ == "__main__":
    recorded(main)
