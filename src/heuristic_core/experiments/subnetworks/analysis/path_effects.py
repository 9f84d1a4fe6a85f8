"""Direct effects of core heads on later heads and on the logits, compared with random heads of their layers.

The test of an effect is paired over evaluation pairs: does the core head affect a receiver differently from random
senders of its layer on average, on the same pairs? A rank among random senders would be coarse: a layer of eight heads
has seven others, so no p could be below 1/8. A small p means that the difference does not depend on which pairs were
drawn. It ignores how much random senders differ from each other, and with enough pairs any head differs from the mean
of others. An edge therefore also has to exceed the effect of every random sender in its own direction.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # as in `contrasts`

from heuristic_core.experiments.subnetworks.analysis.ablation_sets import draw_matched_sets
from heuristic_core.experiments.subnetworks.analysis.contrasts import (
    ACCURACY,
    LOG_ODDS,
    MIN_DIFFERENCE,
    Level,
    Levels,
)
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity

CORE, RANDOM = "core", "random"  # roles of senders; CORE is also the name of all core heads together
TOTAL, LOGITS = "total", "logits"
PARTS = ("query", "key", "value")
OUTPUT_TARGETS = ((TOTAL, None, None), (LOGITS, None, None))  # receivers other than heads: name, component, part
BLOCK = 256  # differences with their draws in memory at once


class Sender(NamedTuple):
    """Heads that send together, and the later heads that receive.

    Attributes:
        name: Name of the head, or of the set.
        role: `CORE` or `RANDOM`.
        heads: Component indices of senders.
        receivers: Component indices of receivers.
    """

    name: str
    role: str
    heads: tuple[int, ...]
    receivers: tuple[int, ...]


class Effects(NamedTuple):
    """Effects of a sender on its targets (see :func:`list_targets`), by pair.

    Attributes:
        values: By measure, changed minus clean, points or nats, [pairs, targets].
        attention: Total variation of attention, [pairs, targets]; NaN where undefined.
    """

    values: Mapping[str, np.ndarray]
    attention: np.ndarray


def list_senders(core: Sequence[int], grid: ComponentGrid, draws: int, seed: int) -> list[list[Sender]]:
    """List each core head, and all core heads together if there are several, each with its random senders.

    Receivers are the heads above the lowest layer of the sender that do not send themselves, core heads included.
    Random senders have the same layers as the core sender and contain no core head.

    Args:
        core: Component indices of core heads.
        grid: Components of the model.
        draws: Largest number of random senders for each core sender.
        seed: Seed of the random senders.

    Returns:
        Lists of a core sender followed by its random senders.
    """
    core, names = tuple(sorted(core)), [component.name for component in grid]
    core_senders = [(names[head], (head,)) for head in core] + ([(CORE, core)] if len(core) > 1 else [])
    heads = range(grid.layers * grid.heads)
    families = []
    for name, sending in core_senders:
        lowest = min(sending) // grid.heads
        receivers = tuple(head for head in heads if head // grid.heads > lowest and head not in sending)
        layers = "+".join(str(head // grid.heads) for head in sending)
        others = draw_matched_sets(
            layers, [head for head in heads if head not in core], grid.heads, draws, seed, sending
        )
        random = [
            Sender(f"random {k} for {name}", RANDOM, drawn, tuple(head for head in receivers if head not in drawn))
            for k, drawn in enumerate(others, start=1)
        ]
        families.append([Sender(name, CORE, sending, receivers), *random])
    return families


def list_targets(sender: Sender, grid: ComponentGrid) -> list[tuple[str, int | None, str | None]]:
    """List the targets of a sender's effects: receiver, its component index, part.

    Args:
        sender: The sender.
        grid: Components of the model.
    """
    names = [component.name for component in grid]
    return [*OUTPUT_TARGETS, *((names[head], head, part) for head in sender.receivers for part in PARTS)]


def compute_paths(
    run: Identity,
    family: Sequence[Sender],
    grid: ComponentGrid,
    donor: str,
    effects: Sequence[Effects],
    levels: Levels,
    by_subset: bool = False,
) -> pd.DataFrame:
    """Make table "paths" of one core sender with its random senders and one donor.

    Args:
        run: Identity of the run.
        family: A core sender and its random senders, from :func:`list_senders`.
        grid: Components of the model.
        donor: Name of the donor of activations.
        effects: Effects of each sender.
        levels: Levels of the pairs.
        by_subset: Report subsets; otherwise groups and J.

    Returns:
        Rows by measure, sender, level and target.
    """
    core_sender, *random_senders = family
    core_targets = list_targets(core_sender, grid)
    reported = [level for level in levels.levels if level.identity["family"] is None or by_subset]
    reported = [level for level in reported if (level.identity["subset"] is not None) == by_subset]
    reach = [(list_targets(sender, grid), effect) for sender, effect in zip(random_senders, effects[1:], strict=True)]
    rows = []
    for measure in (ACCURACY, LOG_ODDS):
        measured = [level for level in reported if level.supports(measure)]
        random = [_align(core_targets, reached, effect.values[measure]) for reached, effect in reach]
        rows += _core_rows(core_sender, core_targets, levels, measured, measure, effects[0], random)
        for sender, sender_effects in zip(random_senders, effects[1:], strict=True):
            rows += _random_rows(sender, list_targets(sender, grid), levels, measured, measure, sender_effects)
    identity = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed", "step")}
    return make_frame("paths", [identity | {"donor": donor} | row for row in rows])


def _align(core_targets: list, reached: list, values: np.ndarray) -> np.ndarray:
    """Align the effects of a random sender with the targets of the core sender.

    Args:
        core_targets: Targets of the core sender.
        reached: Targets of the random sender.
        values: [pairs, reached].

    Returns:
        [pairs, core targets], NaN for targets that the random sender does not reach.
    """
    columns = {target: k for k, target in enumerate(reached)}
    missing = np.full(len(values), np.nan)
    return np.stack(
        [values[:, columns[core_target]] if core_target in columns else missing for core_target in core_targets], axis=1
    )


def _core_rows(
    sender, core_targets, levels: Levels, reported: list[Level], measure, effects: Effects, random
) -> list[dict]:
    """Return the rows of a core sender; `random` has the effects of each random sender, [pairs, targets]."""
    values, rows = effects.values[measure], []
    random_mean = _mean(random, values.shape)
    blocks = [slice(first, first + BLOCK) for first in range(0, len(core_targets), BLOCK)]
    draws = [(levels.resample(values[:, block]), levels.resample((values - random_mean)[:, block])) for block in blocks]
    attention, means, random_means = (
        levels.means(effects.attention),
        levels.means(random_mean),
        [*map(levels.means, random)],
    )
    for level in reported:
        effect, difference = (
            np.concatenate([levels.estimate_effects(level, part[k], measure) for part in draws], axis=1) for k in (0, 1)
        )
        p = np.concatenate([levels.compute_p_values(level, part[1]) for part in draws])
        columns = {"attention": level.weights @ attention, "random": level.weights @ means, "p": p, "q": _adjust(p)}
        columns["beyond"] = _beyond(effect[0], [level.weights @ by_cell for by_cell in random_means])
        for name, interval in (("effect", effect), ("difference", difference)):
            columns |= {f"{name}{end}": values for end, values in zip(("", "_low", "_high"), interval, strict=True)}
        rows += _rows(sender, core_targets, level, measure, columns)
    return rows


def _mean(random: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Average the effects of random senders on each target, by pair; NaN where none reaches it."""
    reached = [~np.isnan(effect) for effect in random]
    count = sum(reached, np.zeros(shape))
    total = sum((np.where(known, effect, 0) for known, effect in zip(reached, random, strict=True)), np.zeros(shape))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _beyond(effect: np.ndarray, others: list[np.ndarray]) -> list[bool | None]:
    """Return whether effects, [targets], exceed those of every random sender in their direction; None without any."""
    flags = []
    for value, column in zip(effect, np.reshape(others, (len(others), len(effect))).T, strict=True):
        known_effects = column[~np.isnan(column)]
        flags.append(
            bool((np.sign(value) * (value - known_effects) > MIN_DIFFERENCE).all()) if len(known_effects) else None
        )
    return flags


def _random_rows(sender, reached, levels: Levels, reported: list[Level], measure, effects: Effects) -> list[dict]:
    """Return the rows of a random sender."""
    means, attention = levels.means(effects.values[measure]), levels.means(effects.attention)
    return [
        row
        for level in reported
        for row in _rows(
            sender, reached, level, measure, {"effect": level.weights @ means, "attention": level.weights @ attention}
        )
    ]


def _rows(sender: Sender, reached: list, level: Level, measure: str, columns: Mapping[str, np.ndarray]) -> list[dict]:
    """Return one row for each target from columns of values, [targets]."""
    if not level.supports(LOG_ODDS):
        columns = {name: values for name, values in columns.items() if name != "attention"}
    identity = {"sender": sender.name, "role": sender.role, "sender_heads": list(sender.heads), "measure": measure}
    return [
        identity
        | level.identity
        | {"receiver": receiver, "component": component, "part": part}
        | {name: values[k] for name, values in columns.items()}
        for k, (receiver, component, part) in enumerate(reached)
    ]


def _adjust(p: np.ndarray) -> np.ndarray:
    """Adjust p for the false discovery rate over receivers that are heads; NaN elsewhere and where p is."""
    q, heads = np.full(len(p), np.nan), np.arange(len(p)) >= len(OUTPUT_TARGETS)
    tested = heads & ~np.isnan(p)
    q[tested] = scipy.stats.false_discovery_control(p[tested]) if tested.any() else []
    return q
