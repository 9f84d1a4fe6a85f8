"""The locked environment: which of its packages results depend on, and how the environment here differs."""

import re
from collections.abc import Collection
from importlib import metadata

# Packages that numbers may depend on, also where one of them uses another. All others of the lock are tools of the
# workflow and of developers, or parts of these.
COMPUTING = {"datasets", "huggingface-hub", "numpy", "pandas", "pyarrow", "pydantic", "pyyaml", "safetensors", "scipy"}
COMPUTING |= {"protobuf", "sentencepiece", "tokenizers", "torch", "transformers"}
# Packages that draw and lay out what was computed: they matter where they are imported.
DRAWING = {"jinja2", "markupsafe", "matplotlib", "pillow", "seaborn", "vl-convert-python"}
# Of these, packages that are imported by another name.
IMPORTED = {"PIL": "pillow", "vl_convert": "vl-convert-python"}


def pins(text: str) -> dict[str, str]:
    """Package -> version, in the text of a lock. Names are normalised."""
    matches = re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in matches}


def locked(text: str, imported: Collection[str]) -> dict[str, str]:
    """Those pins in the text of a lock that matter to code that imports the packages `imported`."""
    matter = COMPUTING | (DRAWING & {IMPORTED.get(name, name) for name in imported})
    return {name: version for name, version in pins(text).items() if name in matter}


def differences(text: str) -> list[str]:
    """One line for each pin in the text of a lock that is here in another version or not at all."""
    pairs = [(name, pinned, _installed(name)) for name, pinned in pins(text).items()]
    return [f"{name} {here or 'is not installed'}, not {pinned}" for name, pinned, here in pairs if here != pinned]


def _installed(name: str) -> str | None:
    """The version without what names a build, such as +cpu."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None
