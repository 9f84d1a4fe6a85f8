"""Writing a subnetwork as a folder that the Hugging Face hub takes: an ordinary checkpoint, with tokenizer and card."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from heuristic_core.common.hashing import file_digest
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.hugging_face import load_classifier, load_tokenizer
from heuristic_core.models.implementation import view_of
from heuristic_core.models.shrink import ordinary
from heuristic_core.pruning.subnetwork import Subnetwork

CARD, SUBNETWORK = "README.md", "subnetwork.json"


def publish(step: Path, source: Path, folder: Path, card: Callable[[Subnetwork], str]) -> bool:
    """Write the subnetwork in the file `source` as `folder`; False where all of it was there already.

    step: folder with `checkpoint/` and `means.safetensors`. card: gives README.md. Raises InputError where the
    architecture has no bias that could hold the means.
    """
    subnetwork = Subnetwork.load(source)
    with _whole(folder) as (partial, keep):
        model, means = load_classifier(step / "checkpoint").eval(), ComponentMeans.load(step / "means.safetensors")
        removed = subnetwork.removed_from(view_of(model).grid)
        ordinary(model, removed, means.heads, means.mlps).save_pretrained(partial)
        load_tokenizer(step / "checkpoint").save_pretrained(partial)
        shutil.copyfile(source, partial / SUBNETWORK)
        (partial / CARD).write_text(card(subnetwork))
        same = _contents(partial) == _contents(folder)
        if same:
            keep()
    return not same


@contextlib.contextmanager
def _whole(folder: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """An empty folder that takes the name `folder` once it is whole, and a function that lets the older one stay.

    A job that is killed leaves the older folder or the new one, or in between neither.
    """
    partial, old = (folder.with_name(f".{folder.name}.{name}") for name in ("partial", "old"))
    for left in (partial, old):
        shutil.rmtree(left, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial, lambda: shutil.rmtree(partial)
        if partial.is_dir():
            if folder.exists():
                folder.rename(old)
            partial.rename(folder)
    finally:
        for left in (partial, old):
            shutil.rmtree(left, ignore_errors=True)


def _contents(folder: Path) -> dict[str, str]:
    """SHA-256 of every file by its path in `folder`; nothing where there is no such folder."""
    return {str(path.relative_to(folder)): file_digest(path) for path in folder.rglob("*") if path.is_file()}
