"""Made tables of extractive structures, in which every rank and every correlation is known."""

from itertools import combinations, product

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.ordering import LAST_STAGE, ORDERS
from heuristic_core.experiments.extractive_structures.scores import KINDS
from heuristic_core.stats.frames import make_frame

SETTINGS = Figure()
SEEDS, EPOCHS, CITIES = (1, 2, 3, 4), 4, 20  # with fewer seeds, facts without a fault may be of rank 1
RELATIONS = ("language", "dish", "second hop")
CORPORA, HOPS = ("whole", "no-implications", "shuffled"), ("first", "second")
TOKENS = {"first": ("The", "NAME", "speak"), "second": ("The", "mayor", "LANDMARK", "is")}
# As the paper has it: ranks at the end by what a claim is about.
PAPER = {
    "facts": 0.0,  # of hops, of test names, and of names with grafted weights
    "taught": 0.0,  # what other names are taught, at the end of the stage
    "implications": {"whole": 1.0, "no-implications": 8.0, "shuffled": 8.5},
    "frozen": {("first", "early"): 8.0, ("first", "late"): 1.0, ("second", "early"): 1.0, ("second", "late"): 8.0},
    "restored": {("first", "early"): 8.0, ("first", "late"): 1.0, ("second", "early"): 1.0, ("second", "late"): 8.0},
    "orders": {"joint": 1.0, "facts first": 2.0, "implications first": 7.0},
    "weights": {"none": 9.0, "graft": 2.0, "control": 8.5},
    "removal": 0.8,
    "stored": 0.6,
    "r": 0.97,
    "shared": 4,
    "order": 1,
    "rho": 0.9,
}
BEFORE = 10.0


def noise(seed: int) -> float:
    """What seeds differ by: means over seeds are as stated."""
    return 0.02 * (seed - 2.5)


def answers(part: str, rank: float, seed: int) -> dict:
    return {"study": "made", "seed": seed, "part": part, "rank": rank + noise(seed) * rank**0.5, "loss": 0.0} | {
        "questions": CITIES
    }


def tables(**changed) -> dict[str, pd.DataFrame]:
    """The tables of a study in which all is as in PAPER, but for what is `changed`."""
    world = PAPER | changed
    rows = {
        "extractive_curves": [*_curves(world)],
        "extractive_freezing": [*_freezing(world)],
        "extractive_ordering": [*_ordering(world)],
        "extractive_grafting": [
            {"weights": weights} | answers(part, rank if part == "implications" else world["facts"], seed)
            for seed in SEEDS
            for weights, rank in world["weights"].items()
            for part in ("facts", "implications", "first implications")
        ],
        "extractive_scores": [*_scores()],
        "extractive_localisation": [*_localisation(world)],
        "extractive_removal": [*_removal(world)],
        "extractive_agreement": [*_agreement(world)],
        "extractive_sharing": [*_sharing(world)],
        "extractive_core": [*_core(world)],
        "extractive_transfer": [*_transfer(world)],
    }
    return {name: make_frame(name, result) for name, result in rows.items()}


def _curves(world):
    for seed, corpus, hop, epoch in product(SEEDS, CORPORA, HOPS, range(EPOCHS + 1)):
        named = {"corpus": corpus, "hop": hop, "epoch": epoch}
        part_of = epoch / EPOCHS
        for part, end in (("facts", world["facts"]), ("implications", world["implications"][corpus])):
            yield named | answers(part, BEFORE + part_of * (end - BEFORE), seed)


def _freezing(world):
    for seed, hop, how in product(SEEDS, HOPS, ("frozen", "restored")):
        ranks = {layers: world[how][hop, layers] for layers in ("early", "late")} | {"none": 1.0, "all": BEFORE}
        for layers, rank in ranks.items():
            for part in ("facts", "implications"):
                part_rank = rank if part == "implications" else world["facts"]
                yield {"hop": hop, "how": how, "layers": layers} | answers(part, part_rank, seed)


def _ordering(world):
    """What a stage teaches is learned at its end and kept; test names are answered better from stage to stage."""
    for seed, (order, steps) in product(SEEDS, ORDERS.items()):
        stages = (*steps, LAST_STAGE)
        for stage, epoch in product(range(len(stages)), range(1, EPOCHS + 1)):
            named = {"order": order, "stage": stage, "taught": " and ".join(stages[stage]), "epoch": epoch}
            done = (stage * EPOCHS + epoch) / (len(stages) * EPOCHS)
            for part in ("facts", "implications"):
                taught = next(number for number, parts in enumerate(stages) if part in parts)
                end = world["taught"] if stage >= taught else BEFORE
                yield named | answers(part, end if stage != taught else BEFORE + epoch / EPOCHS * (end - BEFORE), seed)
            for part, end in {"test facts": world["facts"], "test implications": world["orders"][order]}.items():
                yield named | answers(part, BEFORE + done * (end - BEFORE), seed)


def _localisation(world):
    """Pooled tokens correlate whatever the components do."""
    for seed, kind in product(SEEDS, ("head", "mlp")):
        r = {"r": world["stored"] + noise(seed), "r_pooled": 0.9 + noise(seed)}
        ranks = {
            f"{part}_rank": answers(part, world[name], seed)["rank"]
            for part, name in {"facts": "facts", "implications": "taught"}.items()
        }
        yield {"study": "made", "seed": seed, "kind": kind, "n": 20, "reason": None} | r | ranks


def _components():
    yield from ({"kind": "head", "layer": layer, "head": head} for layer, head in product(range(2), range(2)))
    yield from ({"kind": "mlp", "layer": layer, "head": None} for layer in range(2))


def _scores():
    for seed, hop, score, component in product(SEEDS, HOPS, KINDS, [*_components()]):
        for position, token in enumerate(TOKENS[hop]):
            unknown = score.startswith("upstream") and position == 0
            value = None if unknown else (component["layer"] + 1) * (position - 1) + noise(seed)
            named = {"study": "made", "seed": seed, "hop": hop, "token": token, "position": position, "score": score}
            yield named | component | {"value": value, "questions": CITIES, "reason": "no partner" if unknown else None}


def _removal(world):
    for seed, hop, kind, score, effect in product(SEEDS, HOPS, ("mlp", "head"), KINDS, ("restored", "ablated")):
        named = {"study": "made", "seed": seed, "hop": hop, "kind": kind, "score": score, "effect": effect}
        yield named | {"r": world["removal"] + noise(seed), "n": 4, "reason": None}


def _agreement(world):
    for seed, hop, kind, score, over in product(SEEDS, HOPS, ("mlp", "head"), KINDS, ("means", "questions")):
        named = {"study": "made", "seed": seed, "hop": hop, "kind": kind, "score": score, "over": over}
        yield named | {"r": world["r"] + noise(seed) / 4, "n": 40, "reason": None}


def _sharing(world):
    for seed, hop, part in product(SEEDS, HOPS, ("facts", "implications")):
        about = {"study": "made", "seed": seed, "hop": hop, "part": part, "n": 5, "reason": None}
        yield (
            about
            | {"observed": world["shared"], "expected": 1.0 + noise(seed), "p": 0.5}
            | {
                "greedy_kl": 0.1,
                "learned_kl": 0.2,
            }
        )


def _core(world):
    """Kept by as many subnetworks as the component's place among six; of a layer, in the order of scores or against it.

    Scores rise with the layer whatever the order.
    """
    for seed, hop, part in product(SEEDS, HOPS, ("facts", "implications")):
        for place, component in enumerate(_components()):
            score = 100.0 * component["layer"] + world["order"] * place + noise(seed)
            about = {"study": "made", "seed": seed, "hop": hop, "part": part, "kept_by": place, "n": 5, "greedy": True}
            yield about | component | dict.fromkeys(KINDS, score)


def _transfer(world):
    for seed, kind, score, (a, b) in product(SEEDS, ("head", "mlp"), KINDS, combinations(RELATIONS, 2)):
        about = {"study": "made", "seed": seed, "kind": kind, "score": score, "a": a, "b": b}
        yield about | {"rho": world["rho"] + noise(seed), "n": 4, "reason": None}
