"""What subnetworks share, and whether scores agree across relations."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from torch import Tensor

from heuristic_core.analysis.randomisation import shared_by_chance, tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.extractive_structures.scores import KINDS

CELL = ["study", "seed", "hop", "part"]
COMPONENT = ["kind", "layer", "head"]


def core_rows(subnetworks: pd.DataFrame, components: pd.DataFrame) -> pd.DataFrame:
    """Table "extractive_core" from tables "extractive_subnetworks" and "extractive_components"."""
    known = subnetworks.dropna(subset="kept").astype({"kept": bool})
    keys = [*CELL, *COMPONENT]
    of_gates = known[known["how"] == "learned"].groupby(keys, sort=False, dropna=False)["kept"]
    found = of_gates.agg(kept_by="sum", n="size").reset_index()
    greedy = known.loc[known["how"] == "greedy", [*keys, "kept"]].rename(columns={"kept": "greedy"})
    scores = components[["study", "seed", "hop", *COMPONENT, *KINDS]]
    found = found.merge(greedy, on=keys, how="left", validate="one_to_one")
    return found.merge(scores, on=["study", "seed", "hop", *COMPONENT], how="left", validate="many_to_one")


def sharing_rows(subnetworks: pd.DataFrame, permutations: int) -> Iterator[dict]:
    """Rows of table "extractive_sharing": heads that all learned subnetworks of a model have, and how many by chance.

    Chance: heads of each layer are permuted in every subnetwork.
    """
    for cell, rows in subnetworks.groupby(CELL, sort=False):
        about = dict(zip(CELL, cell, strict=True))
        learned, greedy = (rows[(rows["how"] == how) & rows["kept"].notna()] for how in ("learned", "greedy"))
        about |= {"greedy_kl": greedy["kl"].mean(), "learned_kl": learned["kl"].mean()}
        heads = learned[learned["kind"] == "head"]
        masks = heads.pivot(index="prune_seed", columns=["layer", "head"], values="kept").astype(bool)
        if len(masks) < 2:
            none = dict.fromkeys(("observed", "expected", "p"))
            yield about | none | {"n": len(masks), "reason": "fewer than two pruning runs found a subnetwork"}
            continue
        kept = masks.to_numpy().reshape(len(masks), heads["layer"].nunique(), -1)
        observed = int(kept.all(axis=0).sum())
        draws = shared_by_chance(kept, permutations, numpy_generator(about["seed"], about["hop"], about["part"]))
        more, _ = tails(draws, observed)
        found = {"observed": observed, "expected": float(draws.mean()), "p": more, "n": len(masks)}
        yield about | found | {"reason": None}


def transfer_rows(scores: Mapping[str, Mapping[str, Tensor]]) -> list[dict]:
    """Rows of table "extractive_transfer", without names. scores: by relation and kind, [n, T, layers, H + 1]."""
    totals = {
        relation: {kind: values.nansum(1).mean(0).numpy() for kind, values in found.items()}
        for relation, found in scores.items()
    }
    return [
        {"kind": part, "score": score, "a": a, "b": b} | _agreement(*(totals[one][score][:, which] for one in (a, b)))
        for a, b in combinations(totals, 2)
        for score in KINDS
        for part, which in (("head", slice(None, -1)), ("mlp", slice(-1, None)))
    ]


def _agreement(a: np.ndarray, b: np.ndarray) -> dict:
    a, b = a.ravel(), b.ravel()
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return {"rho": None, "n": len(a), "reason": "fewer than three components, or all with one score"}
    return {"rho": float(stats.spearmanr(a, b).statistic), "n": len(a), "reason": None}
