"""Take from a study's archive what it is drawn from: its tables, settings and claims."""

import logging
from pathlib import Path

from heuristic_core.experiments.heuristic_core.archive.reading import LOCK, open_crate, read
from heuristic_core.experiments.heuristic_core.archive.unpack import unpack
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.lock import differences
from heuristic_core.provenance.record import recorded

LOGGER = logging.getLogger("heuristic_core.unpack")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.reads(crate="the archive")
    parser.places(folder="where to write what it is drawn from")
    parser.writes("*", tables="the tables in it")
    parser.writes("?", study="study.json in it", claims="the claims in it")
    args = parser.read(arguments)
    crate = open_crate(args.crate)
    for difference in differences(read(crate.path, crate.files, LOCK).decode()):
        LOGGER.warning("not as in the archive's environment: %s", difference)
    unpack(crate, Path(args.folder))


if __name__ == "__main__":
    recorded(main)
