"""Schemas of the tables of mediation and path patching."""

import pyarrow as pa

from heuristic_core.experiments.subnetworks.tables.parts import has_part
from heuristic_core.study.table import Table
from heuristic_core.tables.columns import BOOL, INT, REAL, RUN, STEP, STRING, SUBSET

HEADS = pa.list_(pa.int32())
LEVEL = SUBSET | {
    "subset": (STRING, "evaluation subset; null for the unweighted mean over the analysed subsets of a group (of a "
                       "family, where there is one), and for J"),
    "group": (STRING, "id, ood, ood-entailment, or j: J, points, which has no log odds"),
    "n": (INT, "pairs"),
    "measure": (STRING, "accuracy (percent, differences in points) or log_odds (of the true label, nats)"),
}  # fmt: skip

INTERVENTION_TABLES = {
    "mediation": Table(RUN | STEP | {
        "core": (STRING, "what is ablated, by means: learned (the core), or random 1, random 2, ...: sets of as many "
                         "heads of the same layers"),
        "core_heads": (HEADS, "their component indices"),
        "set": (STRING, "name of the later heads whose outputs are exchanged"),
        "role": (STRING, "single (a head outside the core above its lowest layer), layer (all such heads of a layer), "
                         "all later, counter-heuristic (those of them that table counter_heads says), or random (as "
                         "many heads of the same layers as the counter-heuristic ones)"),
        "heads": (HEADS, "component indices of the set"),
        "size": (INT, "heads in the set"),
        "layers": (STRING, "layer of each head, such as 2+2+3"),
        "direction": (STRING, "restored (the core is ablated, the set's outputs are those of the clean run) or "
                              "transmitted (the set's outputs alone are those of the run without the core)"),
    } | LEVEL | {
        "full": (REAL, "value of the full model: percent, points of J, or nats"),
        "ablated": (REAL, "without the core"),
        "patched": (REAL, "with the set's outputs exchanged"),
        "points": (REAL, "restored: patched minus ablated; transmitted: full minus patched"),
        "points_low": (REAL, "2.5th percentile, paired bootstrap over pairs or templates"),
        "points_high": (REAL, "97.5th percentile"),
        "share": (REAL, "points over full minus ablated; null where this cost is not clear of 0"),
        "share_low": (REAL, "2.5th percentile, by the draws of both"),
        "share_high": (REAL, "97.5th percentile"),
        "reason": (STRING, "why share is null; else null"),
    }, "ft{ft_seed}/mechanism/mediation.parquet", has_part("mediation")),
    "paths": Table(RUN | STEP | {
        "sender": (STRING, "what sends: a core head, core (all of them together), or random k for NAME: as many heads "
                           "of the same layers that are not in the core"),
        "role": (STRING, "core or random"),
        "sender_heads": (HEADS, "their component indices"),
        "receiver": (STRING, "later head whose input changes; logits: the direct effect, with all other heads frozen; "
                             "total: everything after the senders is computed again"),
        "component": (INT, "index of the receiver; null for logits and total"),
        "part": (STRING, "what changes: query, key or value; null for logits and total"),
        "donor": (STRING, "what the senders put out instead: mean (component means), or minimal pair (the same pair "
                          "with its premise as its hypothesis)"),
    } | LEVEL | {
        "effect": (REAL, "changed minus clean: points, or nats"),
        "effect_low": (REAL, "2.5th percentile, paired bootstrap over pairs or templates; null for random senders"),
        "effect_high": (REAL, "97.5th percentile"),
        "attention": (REAL, "total variation between the receiver's attention rows then and in the clean run, 0-1, "
                            "mean over rows and pairs; null for values, logits and total, and for J"),
        "random": (REAL, "mean effect of the random senders on the same receiver; null for random senders"),
        "difference": (REAL, "effect minus random"),
        "difference_low": (REAL, "2.5th percentile, from the same draws"),
        "difference_high": (REAL, "97.5th percentile"),
        "p": (REAL, "two-sided, that difference is 0: Student's t over pairs or templates, of these random senders"),
        "q": (REAL, "p adjusted over the receivers and parts of one sender, donor, level and measure "
                    "(Benjamini-Hochberg); null for logits and total"),
        "beyond": (BOOL, "whether the effect is larger than that of every random sender on the same receiver, in the "
                         "same direction; null for random senders, and where none reaches it"),
    }, "ft{ft_seed}/mechanism/paths.parquet", has_part("paths")),
}  # fmt: skip
