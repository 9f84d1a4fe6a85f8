"""The lock file of the environment: packages that results depend on, and differences from the installed versions."""

import re
from collections.abc import Collection
from importlib import metadata

# Packages that may affect numbers, even if only imported by another package. All other packages of the lock are tools
# of the workflow and of developers, or dependencies of these.
COMPUTING_PACKAGES = {
    "datasets",
    "huggingface-hub",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "pyyaml",
    "safetensors",
    "scipy",
}
COMPUTING_PACKAGES |= {"protobuf", "sentencepiece", "tokenizers", "torch", "transformers"}
# Packages that only draw and lay out results: they affect files of modules that import them.
DRAWING_PACKAGES = {"jinja2", "markupsafe", "matplotlib", "pillow", "seaborn", "vl-convert-python"}
# Import name -> package name, for drawing packages where they differ.
_PACKAGE_NAMES = {"PIL": "pillow", "vl_convert": "vl-convert-python"}


def parse_pins(text: str) -> dict[str, str]:
    """Return package -> pinned version.

    Args:
        text: Contents of a lock file, with lines `name==version`.

    Returns:
        Versions by package name, normalised: lower case, with hyphens.
    """
    matches = re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in matches}


def relevant_pins(text: str, imported: Collection[str]) -> dict[str, str]:
    """Return the pins that matter to code.

    Args:
        text: Contents of a lock file.
        imported: Import names of the packages that the code uses.

    Returns:
        Package -> version: all packages that compute, and the drawing packages among `imported`.
    """
    relevant = COMPUTING_PACKAGES | (DRAWING_PACKAGES & {_PACKAGE_NAMES.get(name, name) for name in imported})
    return {name: version for name, version in parse_pins(text).items() if name in relevant}


def pin_mismatches(text: str) -> list[str]:
    """Describe each pin that is installed in another version or not at all.

    Args:
        text: Contents of a lock file.

    Returns:
        One line per package.
    """
    versions = [(name, pinned, _installed_version(name)) for name, pinned in parse_pins(text).items()]
    return [
        f"{name} {installed or 'is not installed'}, not {pinned}"
        for name, pinned, installed in versions
        if installed != pinned
    ]


def _installed_version(name: str) -> str | None:
    """Return the installed version without a build label such as +cpu; None if the package is missing."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None
