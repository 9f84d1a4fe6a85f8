"""Write what a study is, for those who read its results: its checked settings, and what analysis knows of it."""

import json
from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--context", type=json.loads, metavar="JSON", help="what analysis knows; default: nothing")
    parser.add_argument(
        "--settings", type=json.loads, required=True, metavar="JSON", help="the study's checked settings"
    )
    parser.writes(description="where to write both (JSON)")
    args = parser.read(arguments)
    text = {"context": args.context, "settings": args.settings}
    write_text(Path(args.description), json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    recorded(main)
