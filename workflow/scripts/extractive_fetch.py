"""Download and check the model of a study of extractive structures. The only step that uses a network."""

import json
import os

from heuristic_core.common.atomic import write_text
from heuristic_core.experiments.extractive_structures.config import Pretrained
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.sources.fetch import fetch
from heuristic_core.sources.hub import Source

# Plain HTTP is the only tested transport; huggingface_hub reads this variable when it is imported.
os.environ["HF_HUB_DISABLE_XET"] = "1"


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = Arguments(__doc__)
    parser.settings("pretrained", Pretrained)
    parser.writes(fetched="where to list the files with their sizes and hashes (JSON)")
    args = parser.read(arguments)
    model = args.pretrained
    rows = fetch([Source("pretrained", "model", model.hub, model.revision)])
    write_text(args.fetched, json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    recorded(main)
