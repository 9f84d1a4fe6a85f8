"""Direct effects of core heads on later heads and on the logits, against random heads of their layers.

The test of an effect is paired over evaluation pairs: is what the core head does to a receiver other than what random
senders of its layer do on average, on the same pairs? A rank among random senders would be coarse: a layer of eight
heads has seven others, so that no p could be below 1/8. So p says that the difference is no matter of which pairs were
drawn, and nothing of how far random senders differ among themselves: any head differs from the mean of others on enough
pairs. So an edge counts only where its effect is beyond that of every random sender, too, in its own direction.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # as in `contrasts`

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import matched_sets
from heuristic_core.experiments.heuristic_core.analysis.contrasts import ACCURACY, CLEAR, LOG_ODDS, Level, Levels
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity

CORE, RANDOM = "core", "random"  # roles of senders; CORE is also the name of all core heads together
TOTAL, LOGITS = "total", "logits"
PARTS = ("query", "key", "value")
ENDS = ((TOTAL, None, None), (LOGITS, None, None))  # receivers that are no heads: name, component, part
BLOCK = 256  # differences whose draws are in memory at once


class Sender(NamedTuple):
    """Heads that send together, and the later heads that receive (component indices)."""

    name: str
    role: str
    heads: tuple[int, ...]
    receivers: tuple[int, ...]


class Effects(NamedTuple):
    """What a sender changes on its targets (see :func:`targets`), by pair.

    values: by measure, [pairs, targets], changed minus clean, points or nats. attention: [pairs, targets], total
    variation, NaN where it has no meaning.
    """

    values: Mapping[str, np.ndarray]
    attention: np.ndarray


def senders(core: Sequence[int], grid: ComponentGrid, draws: int, seed: int) -> list[list[Sender]]:
    """Every core head, and all of them together where there are several, each followed by at most `draws` random ones.

    Receivers are heads above the lowest layer of the sender, core heads among them, that do not send themselves. Random
    senders have the same layers, and none is in the core.
    """
    core, names = tuple(sorted(core)), [component.name for component in grid]
    own = [(names[head], (head,)) for head in core] + ([(CORE, core)] if len(core) > 1 else [])
    heads = range(grid.layers * grid.heads)
    found = []
    for name, sending in own:
        lowest = min(sending) // grid.heads
        receivers = tuple(head for head in heads if head // grid.heads > lowest and head not in sending)
        layers = "+".join(str(head // grid.heads) for head in sending)
        others = matched_sets(layers, [h for h in heads if h not in core], grid.heads, draws, seed, sending)
        random = [
            Sender(f"random {k} for {name}", RANDOM, one, tuple(head for head in receivers if head not in one))
            for k, one in enumerate(others, start=1)
        ]
        found.append([Sender(name, CORE, sending, receivers), *random])
    return found


def targets(sender: Sender, grid: ComponentGrid) -> list[tuple[str, int | None, str | None]]:
    """What a sender's effects are measured on: receiver, its component index, part."""
    names = [component.name for component in grid]
    return [*ENDS, *((names[head], head, part) for head in sender.receivers for part in PARTS)]


def paths(
    run: Identity,
    family: Sequence[Sender],
    grid: ComponentGrid,
    donor: str,
    effects: Sequence[Effects],
    levels: Levels,
    by_subset: bool = False,
) -> pd.DataFrame:
    """Table "paths" of one core sender with its random ones, `family` (see :func:`senders`), and one donor.

    effects: of each sender. levels: of the pairs; by_subset: subsets are told apart, otherwise groups and J.
    """
    own, *others = family
    about = targets(own, grid)
    wanted = [one for one in levels.levels if one.identity["family"] is None or by_subset]
    wanted = [one for one in wanted if (one.identity["subset"] is not None) == by_subset]
    sent = [(targets(one, grid), effect) for one, effect in zip(others, effects[1:], strict=True)]
    rows = []
    for measure in (ACCURACY, LOG_ODDS):
        here = [level for level in wanted if level.has(measure)]
        random = [_aligned(about, reached, effect.values[measure]) for reached, effect in sent]
        rows += _own_rows(own, about, levels, here, measure, effects[0], random)
        for one, of_one in zip(others, effects[1:], strict=True):
            rows += _random_rows(one, targets(one, grid), levels, here, measure, of_one)
    identity = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed", "step")}
    return frame("paths", [identity | {"donor": donor} | row for row in rows])


def _aligned(about: list, reached: list, values: np.ndarray) -> np.ndarray:
    """A random sender's effects, [pairs, len(about)], NaN on targets it does not reach. values: [pairs, reached]."""
    places = {target: k for k, target in enumerate(reached)}
    missing = np.full(len(values), np.nan)
    return np.stack([values[:, places[one]] if one in places else missing for one in about], axis=1)


def _own_rows(sender, about, levels: Levels, wanted: list[Level], measure, effects: Effects, random) -> list[dict]:
    """Rows of a core sender. random: of each random sender, [pairs, targets]."""
    values, rows = effects.values[measure], []
    compared = _mean(random, values.shape)
    blocks = [slice(first, first + BLOCK) for first in range(0, len(about), BLOCK)]
    drawn = [(levels.drawn(values[:, block]), levels.drawn((values - compared)[:, block])) for block in blocks]
    attention, means, others = levels.means(effects.attention), levels.means(compared), [*map(levels.means, random)]
    for level in wanted:
        effect, difference = (
            np.concatenate([levels.effect(level, part[k], measure) for part in drawn], axis=1) for k in (0, 1)
        )
        p = np.concatenate([levels.p(level, part[1]) for part in drawn])
        columns = {"attention": level.weights @ attention, "random": level.weights @ means, "p": p, "q": _adjusted(p)}
        columns["beyond"] = _beyond(effect[0], [level.weights @ one for one in others])
        for name, ends in (("effect", effect), ("difference", difference)):
            columns |= {f"{name}{end}": values for end, values in zip(("", "_low", "_high"), ends, strict=True)}
        rows += _rows(sender, about, level, measure, columns)
    return rows


def _mean(random: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """The mean effect of random senders on each target, by pair; NaN where none reaches it."""
    reached = [~np.isnan(one) for one in random]
    count = sum(reached, np.zeros(shape))
    total = sum((np.where(here, one, 0) for here, one in zip(reached, random, strict=True)), np.zeros(shape))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _beyond(effect: np.ndarray, others: list[np.ndarray]) -> list[bool | None]:
    """Whether effects, [targets], are beyond those of every random sender in their own direction; null without any."""
    found = []
    for own, column in zip(effect, np.reshape(others, (len(others), len(effect))).T, strict=True):
        known = column[~np.isnan(column)]
        found.append(bool((np.sign(own) * (own - known) > CLEAR).all()) if len(known) else None)
    return found


def _random_rows(sender, about, levels: Levels, wanted: list[Level], measure, effects: Effects) -> list[dict]:
    means, attention = levels.means(effects.values[measure]), levels.means(effects.attention)
    return [
        row
        for level in wanted
        for row in _rows(
            sender, about, level, measure, {"effect": level.weights @ means, "attention": level.weights @ attention}
        )
    ]


def _rows(sender: Sender, about: list, level: Level, measure: str, columns: Mapping[str, np.ndarray]) -> list[dict]:
    if not level.has(LOG_ODDS):
        columns = {name: values for name, values in columns.items() if name != "attention"}
    said = {"sender": sender.name, "role": sender.role, "sender_heads": list(sender.heads), "measure": measure}
    return [
        said
        | level.identity
        | {"receiver": receiver, "component": component, "part": part}
        | {name: values[k] for name, values in columns.items()}
        for k, (receiver, component, part) in enumerate(about)
    ]


def _adjusted(p: np.ndarray) -> np.ndarray:
    """p adjusted over the receivers that are heads; null where p is, and for total and logits."""
    q, heads = np.full(len(p), np.nan), np.arange(len(p)) >= len(ENDS)
    known = heads & ~np.isnan(p)
    q[known] = scipy.stats.false_discovery_control(p[known]) if known.any() else []
    return q
