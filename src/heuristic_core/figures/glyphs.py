"""Characters that the font of figures lacks, and other fonts of this machine that have them."""

import logging
import unicodedata
from collections.abc import Collection, Iterable
from functools import cache

from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from heuristic_core.figures.style import RC

LOGGER = logging.getLogger(__name__)
LAST_RESORT = "Last Resort"  # matplotlib's own font of boxes, one for each block of characters
MAX_LISTED = 12  # characters that a warning names


def complete(figure: Figure) -> bool:
    """Let texts of `figure` whose characters its font lacks use other fonts of this machine; whether there are any.

    Logs one warning that names what no font has.
    """
    missing_by_text = {text: missing for text in figure.findobj(Text) if (missing := _missing(text.get_text()))}
    if not missing_by_text:
        return False
    families, _ = _fonts_for(set().union(*missing_by_text.values()))
    for text in missing_by_text:
        text.set_fontfamily([RC["font.family"], *families])
    if message := warning(text.get_text() for text in missing_by_text):
        LOGGER.warning(message)
    return True


def warning(texts: Iterable[str]) -> str | None:
    """What to say of `texts` that no font of this machine can show in full; None where there are none."""
    _, lacking = _fonts_for(set().union(*map(_missing, texts)))
    if not lacking:
        return None
    shown = ", ".join(map(_describe, sorted(lacking)[:MAX_LISTED])) + (", ..." if len(lacking) > MAX_LISTED else "")
    return (
        f"no font of this machine has {shown}: figures show boxes in their place, while tables and pages are right. "
        "Install a font that has them, such as Noto Sans CJK, delete the study's folder `figures`, and run the same "
        "command"
    )


def _missing(text: str) -> set[str]:
    if text.isascii():
        return set()
    available = _characters(font_manager.findfont(RC["font.family"]))
    return {character for character in text if character.isprintable() and ord(character) not in available}


def _fonts_for(wanted: Collection[str]) -> tuple[list[str], set[str]]:
    """Families of this machine, in alphabetical order, that have some of `wanted`; and what none has."""
    families, lacking = [], set(wanted)
    for entry in sorted(font_manager.fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)):
        if not lacking:
            break
        if LAST_RESORT in entry.name or entry.style != "normal":
            continue
        if covered := {character for character in lacking if ord(character) in _characters(entry.fname)}:
            families.append(entry.name)
            lacking -= covered
    return list(dict.fromkeys(families)), lacking


@cache
def _characters(path: str) -> frozenset[int]:
    """The characters of a font file; none of one that cannot be read, or has pictures of one size alone."""
    try:
        font = FT2Font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError):
        return frozenset()


def _describe(character: str) -> str:
    return f"{character} (U+{ord(character):04X} {unicodedata.name(character, 'without a name')})"
