"""Reproducible zip archives: the same members give the same bytes."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.common.atomic import replace_atomically

_MEMBER_TIME = (1980, 1, 1, 0, 0, 0)  # of all members: the earliest time that a zip file can hold


def write_archive(path: str | Path, members: Mapping[str, Path | bytes]) -> None:
    """Write a zip file.

    Args:
        path: Path of the archive.
        members: Name in the archive -> path of a file, or its content.
    """
    with replace_atomically(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, _MEMBER_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, whatever the system here
            info.external_attr = 0o644 << 16
            archive.writestr(info, read_member(members[name]))


def read_member(member: Path | bytes) -> bytes:
    """Return the bytes of a member of an archive, which is a path or its content."""
    return member if isinstance(member, bytes) else member.read_bytes()
