"""Download what a study takes from the Hugging Face hub into its cache, and check it. The only step with a network."""

import json

from heuristic_core.arguments import Arguments
from heuristic_core.config.models import AnyModel
from heuristic_core.config.tasks import AnyTask
from heuristic_core.fetch import fetch
from heuristic_core.files import write_text
from heuristic_core.hub import sources


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.settings("task", AnyTask)
    parser.files(fetched="where to list the files with their sizes and hashes (JSON)")
    args = parser.read(arguments)
    rows = fetch(sources(args.model, args.task))
    write_text(args.fetched, json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
