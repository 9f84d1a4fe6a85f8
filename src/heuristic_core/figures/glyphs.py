"""Fallback fonts for characters that the font of figures lacks."""

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
LAST_RESORT = "Last Resort"  # matplotlib's font of placeholder boxes
MAX_LISTED = 12  # characters listed in a warning


def add_fallback_fonts(figure: Figure) -> bool:
    """Let texts use other installed fonts for characters that the font of figures lacks.

    Logs a warning about characters that no font has.

    Returns:
        Whether any text was changed.
    """
    missing_by_text = {text: missing for text in figure.findobj(Text) if (missing := _missing(text.get_text()))}
    if not missing_by_text:
        return False
    families, _ = _find_fonts(set().union(*missing_by_text.values()))
    for text in missing_by_text:
        text.set_fontfamily([RC["font.family"], *families])
    if message := missing_glyph_warning(text.get_text() for text in missing_by_text):
        LOGGER.warning(message)
    return True


def missing_glyph_warning(texts: Iterable[str]) -> str | None:
    """Return a warning about characters of `texts` that no installed font has; None if there are none."""
    _, uncovered = _find_fonts(set().union(*map(_missing, texts)))
    if not uncovered:
        return None
    listed = ", ".join(map(_describe, sorted(uncovered)[:MAX_LISTED]))
    listed += ", ..." if len(uncovered) > MAX_LISTED else ""
    return (
        f"no font of this machine has {listed}: figures show boxes instead; tables and pages are not affected. "
        "Install a font that has them, such as Noto Sans CJK, delete the study's folder `figures`, and run the same "
        "command"
    )


def _missing(text: str) -> set[str]:
    """Return the printable characters of a text that the font of figures lacks."""
    if text.isascii():
        return set()
    available = _characters(font_manager.findfont(RC["font.family"]))
    return {character for character in text if character.isprintable() and ord(character) not in available}


def _find_fonts(characters: Collection[str]) -> tuple[list[str], set[str]]:
    """Return installed font families that cover `characters`, in alphabetical order, and characters that none has."""
    families, uncovered = [], set(characters)
    for entry in sorted(font_manager.fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)):
        if not uncovered:
            break
        if LAST_RESORT in entry.name or entry.style != "normal":
            continue
        if covered := {character for character in uncovered if ord(character) in _characters(entry.fname)}:
            families.append(entry.name)
            uncovered -= covered
    return list(dict.fromkeys(families)), uncovered


@cache
def _characters(path: str) -> frozenset[int]:
    """Return the code points of a font file; empty if it cannot be read or is a bitmap font."""
    try:
        font = FT2Font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError):
        return frozenset()


def _describe(character: str) -> str:
    """Return a character with its code point and name."""
    return f"{character} (U+{ord(character):04X} {unicodedata.name(character, 'without a name')})"
