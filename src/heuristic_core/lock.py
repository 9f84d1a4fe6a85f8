"""The locked environment: which of its packages results depend on."""

import re
from collections.abc import Collection

# Packages that numbers may depend on, also where one of them uses another. All others of the lock are tools of the
# workflow and of developers, or parts of these.
COMPUTING = {"datasets", "huggingface-hub", "numpy", "pandas", "pyarrow", "pydantic", "pyyaml", "safetensors", "scipy"}
COMPUTING |= {"tokenizers", "torch", "transformers"}
# Packages that draw and lay out what was computed: they matter where they are imported.
DRAWING = {"jinja2", "matplotlib", "pillow", "seaborn"}


def pins(text: str) -> dict[str, str]:
    """Package -> version, in the text of a lock. Names are normalised."""
    found = re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def locked(text: str, imported: Collection[str]) -> dict[str, str]:
    """Those pins in the text of a lock that matter to code that imports the packages `imported`."""
    matter = COMPUTING | (DRAWING & set(imported))
    return {name: version for name, version in pins(text).items() if name in matter}
