"""How this environment differs from a lock."""

from importlib import metadata


def differences(lock: str) -> list[str]:
    """One line for each package of `lock`, lines of name==version, that is here in another version or not at all."""
    pins = [line.split("==") for line in lock.split() if "==" in line]
    pairs = [(name, pinned, _installed(name)) for name, pinned in pins]
    return [f"{name} {here or 'is not installed'}, not {pinned}" for name, pinned, here in pairs if here != pinned]


def _installed(name: str) -> str | None:
    """The version without what names a build, such as +cpu."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None
