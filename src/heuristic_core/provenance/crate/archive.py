"""Writing an archive: the same members give the same bytes."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.common.atomic import replacing

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can name; no member's time is told


def write_archive(path: str | Path, members: Mapping[str, Path | bytes]) -> None:
    """A zip file of `members`, each a file or its contents, by name in the archive."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, also where it is written on another system
            info.external_attr = 0o644 << 16
            archive.writestr(info, content(members[name]))


def content(member: Path | bytes) -> bytes:
    """A member's bytes."""
    return member if isinstance(member, bytes) else member.read_bytes()
