"""Download of a decoder that was pre-trained elsewhere."""

import json

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Output
from heuristic_core.data.fetch import fetch
from heuristic_core.data.hub import Source
from heuristic_core.experiments.extractive_structures.config import Pretrained


def fetch_decoder(pretrained: Pretrained, fetched: Output) -> None:
    """Download and check the model of a study of extractive structures. The only step that uses a network.

    Args:
        pretrained: Block of the configuration, with a repository of the hub.
        fetched: Where to list the files with their sizes and hashes (JSON).
    """
    rows = fetch([Source("pretrained", "model", pretrained.hub, pretrained.revision)])
    write_text(fetched, json.dumps(rows, indent=1) + "\n")
