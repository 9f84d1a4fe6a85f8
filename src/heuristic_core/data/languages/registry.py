"""Generated languages by name."""

from heuristic_core.data.languages import agreement, parity, roles
from heuristic_core.data.languages.language import Language
from heuristic_core.data.languages.overlap import generation

LANGUAGES: dict[str, Language] = {
    "overlap": generation.LANGUAGE,
    "agreement": agreement.LANGUAGE,
    "roles": roles.LANGUAGE,
    "parity": parity.LANGUAGE,
}
