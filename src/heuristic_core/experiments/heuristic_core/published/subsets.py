"""What the published files' subsets are called here, and which group each is in."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.published.paws import PAWS

GROUPS = ("id", "ood", "ood-entailment")
FAMILIES = {"l": "lexical_overlap", "s": "subsequence", "c": "constituent"}
HANS = re.compile(rf"(?:(?:{'|'.join(FAMILIES.values())})_)?(([lsc])([ne])_.+)")
IN_DOMAIN = ("validation", "dev", "val", "matched", "mismatched")
SAME = ("paraphrase", "para", "duplicate", "dup", "entail")
OTHER = ("non", "not", "neg", "adv", "swap")
KNOWN = {  # of names that say nothing of their pairs: in paws.py, by the names of config/paper-qqp-bert.yaml
    PAWS.part: ("paws_adversarial", "ood"),
    PAWS.rest: ("paws_duplicates", "ood-entailment"),
}


class Named(NamedTuple):
    """A subset as our own studies call it. family: of HANS, or None."""

    subset: str
    group: str
    family: str | None


def named(names: Iterable[str], task: str, groups: Mapping[str, str]) -> dict[str, Named]:
    """The subsets of the published files under their names here.

    HANS's subsets lose their family ("lexical_overlap_ln_preposition" is "ln_preposition"); the task's own evaluation
    sets are "mnli_matched", "mnli_mismatched" or "<task>_validation"; the classes of PAWS-QQP are "paws_adversarial"
    and "paws_duplicates". Groups follow from the name: HANS's "n" is ood and "e" ood-entailment; the task's own sets
    are id; all others ood, but for those that say of their pairs that they are paraphrases, duplicates or entailed.
    groups: name, here or there -> group, where that is not so.
    Raises InputError on an unknown group.
    """
    for name, group in groups.items():
        if group not in GROUPS:
            raise InputError(f"published_groups: {name} = {group!r} is no group; give one of {', '.join(GROUPS)}")
    found = {name: _named(name, task) for name in names}
    wanted = {found[name].subset if name in found else name: group for name, group in groups.items()}
    return {name: one._replace(group=wanted.get(one.subset, one.group)) for name, one in found.items()}


def _named(name: str, task: str) -> Named:
    if name in KNOWN:
        return Named(*KNOWN[name], None)
    if hans := HANS.fullmatch(name):
        subset, family, kind = hans.groups()
        group = "ood" if kind == "n" else "ood-entailment"
        return Named(re.sub(r"[^\w.-]", "-", subset, flags=re.ASCII), group, FAMILIES[family])
    words = re.findall(r"[a-z0-9]+", name.lower())
    if {task, *IN_DOMAIN} & set(words) and not any(word.startswith("paws") for word in words):
        rest = [word for word in words if word not in (task, "validation", "dev", "val")] or ["validation"]
        return Named("_".join([task, *rest]), "id", None)
    alike = any(word.startswith(SAME) for word in words)
    unlike = "no" in words or any(word.startswith(OTHER) for word in words)
    subset = re.sub(r"[^\w.]", "_", name, flags=re.ASCII)
    return Named(subset, "ood-entailment" if alike and not unlike else "ood", None)
