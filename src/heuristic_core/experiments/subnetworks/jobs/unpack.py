"""Redrawing from an archive: its tables, settings and claims."""

import logging
from pathlib import Path

from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.experiments.subnetworks.archive.reading import LOCK_FILE, open_crate, read_member
from heuristic_core.experiments.subnetworks.archive.unpack import unpack
from heuristic_core.provenance.lock import pin_mismatches

LOGGER = logging.getLogger("heuristic_core.unpack")


def unpack_archive(
    crate: Input, folder: Folder, tables: list[Output] = (), study: Output | None = None, claims: Output | None = None
) -> None:
    """Take from a study's archive what it is drawn from: its tables, settings and claims.

    Args:
        crate: The archive.
        folder: Where to write what it is drawn from.
        tables: The tables in it, for the record.
        study: study.json in it, for the record.
        claims: The claims in it, for the record.
    """
    archive = open_crate(crate)
    for difference in pin_mismatches(read_member(archive.path, archive.files, LOCK_FILE).decode()):
        LOGGER.warning("differs from the archive's environment: %s", difference)
    unpack(archive, Path(folder))
