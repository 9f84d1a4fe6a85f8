"""Labels, colours and markers that figures share."""

from heuristic_core.figures.roles import Role

HOPS = {"first": "first hop", "second": "second hop"}
# Okabe and Ito's palette. Facts are grey, implications blue: light if they are of names whose implications are taught.
FACTS, IMPLICATIONS, TAUGHT_IMPLICATIONS = "#999999", "#0072B2", "#56B4E9"
PARTS = {"facts": Role("facts", FACTS, "s", "--"), "implications": Role("implications", IMPLICATIONS, "o")}
KINDS = {"mlp": Role("MLPs", "#D55E00", "s"), "head": Role("heads", "#009E73", "o")}
SCORES = {
    "informative": "informative",
    "downstream": "downstream",
    "upstream": "upstream",
    "upstream_path": "upstream, path-averaged",
}
RANK_LABEL = "mean rank (0: right)"


def expected_rank(options: int) -> float:
    """Return the mean rank of a random answer."""
    return (options - 1) / 2
