"""Labels, colours and markers that figures share."""

from heuristic_core.figures.roles import Role

HOPS = {"first": "first hop", "second": "second hop"}
# Okabe and Ito's palette.
PARTS = {"facts": Role("facts", "#999999", "s", "--"), "implications": Role("implications", "#0072B2", "o")}
KINDS = {"mlp": Role("MLPs", "#D55E00", "s"), "head": Role("heads", "#0072B2", "o")}
SCORES = {
    "informative": "informative",
    "downstream": "downstream",
    "upstream": "upstream",
    "upstream_path": "upstream, path-averaged",
}
RANK_LABEL = "mean rank"


def expected_rank(options: int) -> float:
    """Return the mean rank of a random answer."""
    return (options - 1) / 2
