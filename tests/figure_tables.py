"""Small synthetic tables for the figures: 2 fine-tuning seeds, 4 layers x 8 heads, 12 pruning seeds."""

from itertools import product

import numpy as np
import pandas as pd

from heuristic_core.analysis.accuracy import family_scores_of, group_accuracy_of
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.config.context import Context
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.schemas import COMPONENT, SCHEMAS

FT_SEEDS, STEPS = (1, 2), (600, 1000, 1400, 2200)
CONTEXT = Context(
    mid=0.35, high=0.5, last=2200, seeds=tuple(range(42, 54)), curve_seeds=(42, 43, 44), checkpoints=STEPS,
    repeats=(42, 43), margin=3.0,
)  # fmt: skip
SPARSITIES = (0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6)
CASES = ("prep", "rel", "passive", "conj"), ("pp", "np"), ("if", "verb", "adv")
FAMILIES = dict(zip("lsc", ("lexical_overlap", "subsequence", "constituent"), strict=True))
SUBSETS = {"in_domain": ("id", None)} | {
    f"{letter}{kind}_{case}": (group, family)
    for kind, group in (("n", "ood"), ("e", "ood-entailment"))
    for (letter, family), cases in zip(FAMILIES.items(), CASES, strict=True)
    for case in cases
}
HEADS = [component for component in ComponentGrid(4, 8) if component.kind == "head"]
CORE = {1: (2, 11, 17, 24), 2: ()}  # component indices; fine-tuning seed 2 has no core
MATCHED = "0.2+1.3+2.1"


def table(name, rows):
    """What no figure shows may be left out of `rows`, and is null."""
    rows = list(rows)
    assert not (unknown := set().union(*rows) - set(SCHEMAS[name])), (name, unknown)
    return frame(name, rows)


def run(ft_seed, **values):
    return {"study": "s", "model": "m", "task": "t", "ft_seed": ft_seed} | values


def subset_rows(rng, means, scale):
    """One accuracy per subset around the mean of its group."""
    for subset, (group, family) in sorted(SUBSETS.items()):
        mean = means[group] * (rng.uniform(0.2, 1.8) if group == "ood" and scale else 1)
        noise = scale * rng.normal() if means[group] < 99 else -abs(rng.normal())
        accuracy = float(np.clip(round(mean + noise), 0, 100))
        interval = {"low": max(0.0, accuracy - 8), "high": min(100.0, accuracy + 6), "unit": "pair"}
        yield {"subset": subset, "group": group, "family": family, "n": 100, "accuracy": accuracy} | interval


def accuracy_rows(rng):
    for ft_seed in FT_SEEDS:
        full = {"id": 100, "ood": 70, "ood-entailment": 96}
        own = run(ft_seed, step=2200)
        yield from (own | {"sparsity": 0.0, "seed": None, "repeat": 0} | row for row in subset_rows(rng, full, 12))
        for sparsity in SPARSITIES:
            decay = max(0, 1 - sparsity / 0.5)
            means = {"id": 100 - 12 * sparsity**2, "ood": 70 * decay, "ood-entailment": 96}
            for seed in CONTEXT.seeds if sparsity in (0.35, 0.5) else CONTEXT.curve_seeds:
                identity = own | {"sparsity": sparsity, "seed": seed, "repeat": 0}
                yield from (identity | row for row in subset_rows(rng, means, 8 * decay))
        for seed in CONTEXT.repeats:  # another run of a seed: no figure but those of `curve_repeat` 1 may show it
            identity = own | {"sparsity": 0.35, "seed": seed, "repeat": 1}
            yield from (identity | row for row in subset_rows(rng, dict.fromkeys(full, 1.0), 0))


def group_accuracy_rows(accuracy):
    keys = ["study", "model", "task", "ft_seed", "step", "sparsity", "seed", "repeat", "group"]
    by_group = accuracy.astype({"seed": object}).groupby(keys, dropna=False, sort=False)
    for key, of_group in by_group:
        values = of_group[["accuracy", "low", "high"]].mean().to_dict() | {"n": 900, "unit": "pair"}
        yield dict(zip(keys, key, strict=True)) | {"subsets": len(of_group)} | values


def measured(rows):
    """Rows of J, with intervals, and beside them of AUC, as of a model whose ROC curve has one corner."""
    j = rows[rows["group"] == "j"].assign(unit="pair")
    j = j.assign(low=(j["accuracy"] - 4).clip(-100, 100), high=(j["accuracy"] + 4).clip(-100, 100))
    auc = {name: 50 + j[name] / 2 for name in ("accuracy", "low", "high")}
    return pd.concat([j, j.assign(group="auc", **auc)], ignore_index=True)


def summary_rows(accuracy, group_accuracy):
    """Over pruning seeds, then over fine-tuning seeds."""
    rows = pd.concat([accuracy, group_accuracy])
    rows = rows[rows["sparsity"].isin([0.0, 0.35, 0.5]) & (rows["repeat"] == 0)].astype({"subset": object})
    keys = ["study", "model", "task", "step", "sparsity", "subset", "group", "family"]
    means = [
        condensed(of_cell["accuracy"], "pruning seeds") | dict(zip(["ft_seed", *keys], key, strict=True))
        for key, of_cell in rows.groupby(["ft_seed", *keys], dropna=False, sort=False)
    ]
    yield from (row for row in means if row["sparsity"])  # the full model's own is no mean over pruning seeds
    for key, of_cell in pd.DataFrame(means).groupby(keys, dropna=False, sort=False):
        yield condensed(of_cell["mean"], "fine-tuning seeds") | dict(zip(keys, key, strict=True)) | {"ft_seed": None}


def condensed(values, over):
    mean, low, high = mean_interval(values)
    row = {"over": over, "n": len(values), "mean": mean, "low": low, "high": high}
    return row | {"sd": float(values.std()), "min": float(values.min()), "max": float(values.max())}


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
            yield run(ft_seed, **row, p=0.0001 if name == "mid+high" else 0.0310)


def variance_rows():
    places = list(SUBSETS.items()) + [(None, (group, None)) for group in ("id", "ood", "ood-entailment")]
    for ft_seed in FT_SEEDS:
        for sparsity in (0.35, 0.5):
            for subset, (group, family) in places:
                place = {"step": 2200, "sparsity": sparsity, "subset": subset, "group": group, "family": family}
                values = {"between_sd": 6.25, "seeds": 12, "within_sd": 1.5, "repeated": 2, "same_masks": None}
                yield run(ft_seed) | place | (values if sparsity == 0.35 else values | {"same_masks": 1})


def trace_rows(rng):
    for ft_seed in FT_SEEDS:
        for step in range(100, 2201, 100):
            known = 1 / (1 + np.exp(-(step - 1500) / 120))
            means = {"id": min(100, step / 4), "ood": 72 * known, "ood-entailment": 99 - 8 * known}
            yield from (run(ft_seed, step=step) | row for row in subset_rows(rng, means, 3 * known))


def lesion_rows(trace):
    """Without overlap heads the rise comes later and ends lower; fine-tuning seed 2 has fewer others."""
    for row in trace:
        for lesion, size, left in (("overlap", 6, 0.5), ("random1", 7 - row["ft_seed"], 0.95), ("random2", 6, 0.9)):
            out = {"lesion": lesion, "heads": list(range(size)), "size": size}
            lost = {name: left * row[name] for name in ("accuracy", "low", "high")} if row["group"] == "ood" else {}
            yield row | out | lost


def overlap_rows(core):
    """Heads of the first two layers attend to the repeated word, and one that is in the core."""
    for row in core:
        if row["kind"] == "head":
            identity = {key: row[key] for key in ("study", "model", "task", "ft_seed", *COMPONENT)}
            overlap = row["component"] in (1, 2, 9, 24)
            yield identity | {"share": 0.3 if overlap else 0.06, "uniform": 0.05, "overlap": overlap, "n": 450}


SIZES = {"id": 46.7, "ood": 93.3, "ood-entailment": 60.0, "mixed": 76.7, "mixed-1:1": 70.0, "j": 95.0}
CRITERIA = (("accuracy", 3.0), ("accuracy", 5.0), ("recovery", 95.0), ("agreement", 95.0), ("kl", 0.1))


def effective_size_rows(rng):
    for ft_seed in FT_SEEDS:
        for step in STEPS:
            for (group, percent), (criterion, threshold) in product(SIZES.items(), CRITERIA):
                full = 0.7 if group == "ood" and step < 1400 else 80.0
                size = None if full < 3 else percent - 3 * ft_seed - (threshold == 5)
                row = run(ft_seed, step=step, group=group, criterion=criterion, threshold=threshold)
                row |= {"full_accuracy": full, "effective_size": size, "floor": 30.0 + 10 * ft_seed}
                row["reason"] = None if size else "undefined: full model at 0.7 %, below the margin of 3 points"
                sd = float(rng.uniform(2, 9)) if size else None
                yield row | {"order": "per-seed", "seed": None, "sd": sd, "n_seeds": 3}
                yield row | {"order": "upward", "seed": None, "sd": sd, "n_seeds": 3}
                yield row | {"order": "mean-first", "seed": None, "sd": None, "n_seeds": 3}
                yield row | {"order": "per-seed", "seed": 42, "sd": None, "n_seeds": 1}


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


def control_rows(rng):
    levels = {"learned": 80.0, "random": 45.0, "importance": 60.0}
    for ft_seed in FT_SEEDS:
        for sparsity in (CONTEXT.mid, CONTEXT.high):
            places = [*((s, *SUBSETS[s]) for s in SUBSETS), *((None, g, None) for g in ("id", "ood", "ood-entailment"))]
            for subset, group, family in places:
                learned = levels["learned"] + rng.normal()
                for control, level in levels.items():
                    one, difference = control == "importance", learned - level
                    compared = control != "learned"
                    yield run(ft_seed, step=2200, sparsity=sparsity, control=control) | {
                        "subset": subset, "group": group, "family": family, "n": 1 if one else 12,
                        "accuracy": level if compared else learned, "sd": None if one else 2.5,
                        "difference": difference if compared else None,
                        "difference_low": difference - 5 if compared else None,
                        "difference_high": difference + 5 if compared else None,
                    }  # fmt: skip


def rank_correlation_rows():
    shared = {"step": 2200, "seeds": "shared", "n": 32}
    yield run(1, **shared, rho=0.89, low=0.71, high=0.95, p=2.1e-11)
    yield run(1, **shared | {"seeds": "disjoint"}, rho=0.8, low=0.7, high=0.88)
    yield run(2, **shared)


def build():
    rng = np.random.default_rng(7)
    core, trace = list(core_rows(rng)), list(trace_rows(np.random.default_rng(8)))
    accuracy = table("accuracy", accuracy_rows(rng))
    group_accuracy = table("group_accuracy", group_accuracy_rows(accuracy))
    scores = measured(group_accuracy_of(accuracy))
    group_accuracy = pd.concat([group_accuracy, scores.astype(group_accuracy.dtypes)], ignore_index=True)
    families = table("family_scores", measured(family_scores_of(accuracy)).to_dict("records"))
    tables = {"accuracy": accuracy, "group_accuracy": group_accuracy, "family_scores": families}
    rows = {
        "lesion_accuracy": lesion_rows(trace), "overlap_heads": overlap_rows(core),
        "summary": summary_rows(accuracy, group_accuracy), "variance": variance_rows(),
        "finetune_accuracy": trace, "effective_size": effective_size_rows(rng),
        "core": core, "core_seeds": core_seeds_rows(), "core_null": core_null_rows(),
        "head_frequency": frequency_rows(core),
        "rank_correlation": rank_correlation_rows(), "attention": attention_rows(rng),
        "attention_maps": attention_map_rows(rng), "ablations": ablation_rows(rng), "controls": control_rows(rng),
    }  # fmt: skip
    return tables | {name: table(name, list(of_table)) for name, of_table in rows.items()}
