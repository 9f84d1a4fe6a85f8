"""Components that subnetworks share, and agreement of scores across relations."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from torch import Tensor

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.extractive_structures.scores import KINDS
from heuristic_core.stats.randomisation import draw_shared_counts, tail_p_values

GROUP_COLUMNS = ["study", "seed", "hop", "part"]
COMPONENT = ["kind", "layer", "head"]


def core_rows(subnetworks: pd.DataFrame, components: pd.DataFrame) -> pd.DataFrame:
    """Return table "extractive_core": how many subnetworks keep a component, and its scores.

    Args:
        subnetworks: Table "extractive_subnetworks".
        components: Table "extractive_components".
    """
    complete = subnetworks.dropna(subset="kept").astype({"kept": bool})
    keys = [*GROUP_COLUMNS, *COMPONENT]
    learned = complete[complete["how"] == "learned"].groupby(keys, sort=False, dropna=False)["kept"]
    core = learned.agg(kept_by="sum", n="size").reset_index()
    greedy = complete.loc[complete["how"] == "greedy", [*keys, "kept"]].rename(columns={"kept": "greedy"})
    scores = components[["study", "seed", "hop", *COMPONENT, *KINDS]]
    core = core.merge(greedy, on=keys, how="left", validate="one_to_one")
    return core.merge(scores, on=["study", "seed", "hop", *COMPONENT], how="left", validate="many_to_one")


def sharing_rows(subnetworks: pd.DataFrame, permutations: int) -> Iterator[dict]:
    """Yield rows of table "extractive_sharing": heads that all learned subnetworks share, and how many by chance.

    Args:
        subnetworks: Table "extractive_subnetworks".
        permutations: Number of draws by chance, which permute the heads of each layer in every subnetwork.
    """
    for group, rows in subnetworks.groupby(GROUP_COLUMNS, sort=False):
        labels = dict(zip(GROUP_COLUMNS, group, strict=True))
        learned, greedy = (rows[(rows["how"] == how) & rows["kept"].notna()] for how in ("learned", "greedy"))
        labels |= {"greedy_kl": greedy["kl"].mean(), "learned_kl": learned["kl"].mean()}
        heads = learned[learned["kind"] == "head"]
        masks = heads.pivot(index="prune_seed", columns=["layer", "head"], values="kept").astype(bool)
        if len(masks) < 2:
            undefined = dict.fromkeys(("observed", "expected", "p"))
            yield labels | undefined | {"n": len(masks), "reason": "fewer than two pruning runs found a subnetwork"}
            continue
        kept = masks.to_numpy().reshape(len(masks), heads["layer"].nunique(), -1)
        observed = int(kept.all(axis=0).sum())
        draws = draw_shared_counts(kept, permutations, numpy_generator(labels["seed"], labels["hop"], labels["part"]))
        upper_tail, _ = tail_p_values(draws, observed)
        counts = {"observed": observed, "expected": float(draws.mean()), "p": upper_tail, "n": len(masks)}
        yield labels | counts | {"reason": None}


def transfer_rows(scores: Mapping[str, Mapping[str, Tensor]]) -> list[dict]:
    """Return rows of table "extractive_transfer", without names: rank correlations of scores between relations.

    Args:
        scores: Scores by relation and kind, [n, T, layers, H + 1].
    """
    totals = {
        relation: {kind: values.nansum(1).mean(0).numpy() for kind, values in by_kind.items()}
        for relation, by_kind in scores.items()
    }
    return [
        {"kind": part, "score": score, "a": a, "b": b}
        | _correlate(*(totals[relation][score][:, indices] for relation in (a, b)))
        for a, b in combinations(totals, 2)
        for score in KINDS
        for part, indices in (("head", slice(None, -1)), ("mlp", slice(-1, None)))
    ]


def _correlate(a: np.ndarray, b: np.ndarray) -> dict:
    a, b = a.ravel(), b.ravel()
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return {"rho": None, "n": len(a), "reason": "fewer than three components, or all with one score"}
    return {"rho": float(stats.spearmanr(a, b).statistic), "n": len(a), "reason": None}
