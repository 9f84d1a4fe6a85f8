"""How what is compared looks wherever it appears."""

from typing import NamedTuple


class Role(NamedTuple):
    """The look of a group of subsets, or of another kind of line. Readable without colour."""

    label: str
    colour: str
    marker: str = ""
    line: str = "-"


# Okabe and Ito's palette: distinct to colour-blind readers too.
ROLES = {
    "id": Role("ID", "#0072B2", "o", "-"),
    "ood": Role("OOD", "#D55E00", "^", "--"),
    "ood-entailment": Role("OOD-entailment", "#009E73", "s", "-."),
    "mixed": Role("mixed", "#AA4499", "D", ":"),
}
COLOURS = {group: role.colour for group, role in ROLES.items()}
