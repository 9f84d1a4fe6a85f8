"""Tables of heads of the synthetic study of figure_tables.py, 4 layers x 8: cores, attention and ablations."""

import numpy as np
from figure_tables import CONTEXT, FT_SEEDS, SUBSETS, run

from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.columns import COMPONENT
from heuristic_core.tables.schemas import SCHEMAS

HEADS = [component for component in ComponentGrid(4, 8) if component.kind == "head"]
CORE = {1: (2, 11, 17, 24), 2: ()}  # component indices; fine-tuning seed 2 has no core
MATCHED = "0.2+1.3+2.1"


def core_seeds_rows():
    for ft_seed in FT_SEEDS:
        for name, least in {"high": 6, "mid": 9, "mid+high": 4}.items():
            for seeds in range(1, 13):
                heads = least + (20 - least) / seeds
                values = {"heads": heads, "sd": (12 - seeds) / 8, "expected": 20 * 0.6 ** (seeds - 1), "choices": 100}
                yield run(ft_seed, set=name, seeds=seeds) | values


def core_null_rows():
    for ft_seed in FT_SEEDS:
        for name, n, observed in (("high", 12, 6), ("mid", 12, 9), ("mid+high", 24, 4)):
            row = {"set": name, "n": n, "seeds": 12, "observed": observed, "expected": 0.0123, "permutations": 10_000}
            row["expected_over_all"] = 32 * 0.5**n
            yield run(ft_seed, **row, p=0.0001 if name == "mid+high" else 0.0310)


def overlap_rows(core):
    """Heads of the first two layers attend to the repeated word, and one that is in the core."""
    for row in core:
        if row["kind"] == "head":
            identity = {key: row[key] for key in ("study", "model", "task", "ft_seed", *COMPONENT)}
            overlap = row["component"] in (1, 2, 9, 24)
            yield identity | {"share": 0.3 if overlap else 0.06, "uniform": 0.05, "overlap": overlap, "n": 450}


def counts(rng, ft_seed, component, share):
    if component.index in CORE[ft_seed]:
        return 12
    return int(min(11, rng.binomial(12, share * (0.3 if component.index % 3 else 1))))


def core_rows(rng):
    for ft_seed in FT_SEEDS:
        for c in ComponentGrid(4, 8):
            mid, high = (12, 12) if c.kind == "mlp" else (counts(rng, ft_seed, c, share) for share in (0.9, 0.6))
            yield run(ft_seed, component=c.index, name=c.name, kind=c.kind, layer=c.layer, head=c.head) | {
                "mid": mid, "high": high, "early": None, "n_mid": 12, "n_high": 12, "in_core": c.index in CORE[ft_seed]
            }  # fmt: skip


def frequency_rows(core):
    for row in core:
        identity = {key: row[key] for key in ("study", "model", "task", "ft_seed", *COMPONENT)}
        for name in ("mid", "high"):
            cell = {"step": 2200, "sparsity": getattr(CONTEXT, name), "seed": None, "repeat": 0}
            yield identity | cell | {"count": row[name], "n": 12}


def attention_rows(rng):
    categories = ("repeated", "previous", "next", "separator", "first", "self", "other")
    for ft_seed in FT_SEEDS:
        for c in HEADS:
            shares = rng.dirichlet([6 if c.index in CORE[ft_seed] else 1, 1, 1, 2, 1, 0.5, 2])
            identity = run(ft_seed, step=2200, component=c.index, name=c.name, kind=c.kind, layer=c.layer, head=c.head)
            for category, share in zip(categories, shares, strict=True):
                yield identity | {"category": category, "share": float(share), "n": 450}


def relation(words, sentences, texts, query, key):
    """The category of one attended token; words, sentences and texts are None on special tokens."""
    if words[query] is None:
        return None
    if words[key] is None:
        return "separator" if key else "first"
    if words[key] == words[query]:
        return "self"
    if sentences[key] != sentences[query]:
        return "repeated" if texts[key] == texts[query] else "other"
    return {-1: "previous", 1: "next"}.get(words[key] - words[query], "other")


def attention_map_rows(rng):
    """Pairs of 9 and 6 tokens, the first with a word of two subwords that is repeated."""
    pairs = [
        (["[CLS]", "doc", "·tors", "ran", "[SEP]", "who", "Doc", "·tors", "[SEP]"], [0, 0, 1, None, 2, 3, 3]),
        (["[CLS]", "poets", "ran", "[SEP]", "poets", "[SEP]"], [0, 1, None, 2]),
    ]
    for ft_seed in FT_SEEDS:
        for pair, (tokens, inner) in enumerate(pairs):
            words = [None, *inner, None]
            border = words.index(None, 1)
            sentences = [None if word is None else int(k > border) for k, word in enumerate(words)]
            parts = {word: "".join(t for t, w in zip(tokens, words, strict=True) if w == word) for word in words}
            texts = [parts[word].lower() for word in words]
            for c in HEADS:
                identity = run(
                    ft_seed, step=2200, component=c.index, name=c.name, kind=c.kind, layer=c.layer, head=c.head
                )
                for query, probabilities in enumerate(rng.dirichlet([0.3] * len(tokens), len(tokens))):
                    for key, probability in enumerate(probabilities):
                        yield identity | {
                            "pair": pair, "query": query, "key": key, "query_token": tokens[query],
                            "key_token": tokens[key], "sentence": sentences[query], "key_sentence": sentences[key],
                            "category": relation(words, sentences, texts, query, key),
                            "probability": float(probability),
                        }  # fmt: skip


def ablation_rows(rng):
    for ft_seed in FT_SEEDS:
        core = CORE[ft_seed]
        sets = [("none", "none", 0, "", 0)]
        sets += [(c.name, *(("core", 1, str(c.layer), 12) if c.index in core else ("non-core", 1, str(c.layer), 1)))
                 for c in HEADS]  # fmt: skip
        if core:
            sets += [(MATCHED, "strongest", 3, "0+1+2", 45)]
            sets += [(f"control {k} of layers 0+1+2", "control", 3, "0+1+2", 4) for k in (1, 2, 3)]
        for kind, scale in (("mean", 1.0), ("zero", 0.5)):
            for name, role, size, layers, drop in sets:
                if kind == "zero" and role == "non-core":
                    continue
                identity = run(ft_seed, step=2200, kind=kind, ablation=name, role=role, size=size, layers=layers)
                changes = {s: -scale * drop and -float(round(rng.uniform(0.5, 1.5) * scale * drop)) for s in SUBSETS}
                for subset, (group, family) in SUBSETS.items():
                    where = {"subset": subset, "group": group, "family": family, "n": 100}
                    yield identity | where | ablation_values(role, changes[subset])
                for group in dict.fromkeys(g for g, _ in SUBSETS.values()):
                    mean = float(np.mean([changes[s] for s, (g, _) in SUBSETS.items() if g == group]))
                    yield (
                        identity
                        | {"subset": None, "group": group, "family": None, "n": 900}
                        | ablation_values(role, mean)
                    )
                for group, change in (("j", 1.5 * mean), ("auc", 0.75 * mean)):
                    about = {"subset": None, "group": group, "family": None, "n": 1800}
                    without = dict.fromkeys(name for name in SCHEMAS["ablations"] if name.startswith("log_odds"))
                    yield identity | about | ablation_values(role, change) | without


def ablation_values(role, change):
    bounded, joint = role != "control", role == "strongest"
    return {
        "accuracy": 90 + change, "change": change,
        "change_low": change - 4 if bounded else None, "change_high": change + 3 if bounded else None,
        "interaction": -change - 36 if joint else None, "interaction_low": -change - 40 if joint else None,
        "interaction_high": -change - 30 if joint else None, "log_odds_change": change / 50,
        "log_odds_interaction": 0.2 if joint else None, "log_odds_interaction_low": 0.1 if joint else None,
        "log_odds_interaction_high": 0.3 if joint else None,
    }  # fmt: skip


def rank_correlation_rows():
    shared = {"step": 2200, "seeds": "shared", "n": 32}
    yield run(1, **shared, rho=0.89, low=0.71, high=0.95)
    yield run(1, **shared | {"seeds": "disjoint"}, rho=0.8, low=0.7, high=0.88)
    yield run(2, **shared)
