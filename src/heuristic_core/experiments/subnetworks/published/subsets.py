"""Names and groups of the subsets in the published files, in the terms of other studies."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.published.paws import PAWS

GROUPS = ("id", "ood", "ood-entailment")
FAMILIES = {"l": "lexical_overlap", "s": "subsequence", "c": "constituent"}
HANS_PATTERN = re.compile(rf"(?:(?:{'|'.join(FAMILIES.values())})_)?(([lsc])([ne])_.+)")
IN_DOMAIN_WORDS = ("validation", "dev", "val", "matched", "mismatched")
ENTAILMENT_PREFIXES = ("paraphrase", "para", "duplicate", "dup", "entail")
NEGATION_PREFIXES = ("non", "not", "neg", "adv", "swap")
EXPLICIT_NAMES = {  # names that do not imply a group (see paws.py), with the names of config/paper-qqp-bert.yaml
    PAWS.part: ("paws_adversarial", "ood"),
    PAWS.rest: ("paws_duplicates", "ood-entailment"),
}


class PublishedSubset(NamedTuple):
    """A subset with its name in other studies.

    Attributes:
        subset: The name.
        group: "id", "ood" or "ood-entailment".
        family: The HANS family, or None.
    """

    subset: str
    group: str
    family: str | None


def map_subsets(names: Iterable[str], task: str, groups: Mapping[str, str]) -> dict[str, PublishedSubset]:
    """Map the subsets of the published files to their names and groups in other studies.

    Subsets of HANS lose their family ("lexical_overlap_ln_preposition" becomes "ln_preposition"); the task's own
    evaluation sets become "mnli_matched", "mnli_mismatched" or "<task>_validation"; the classes of PAWS-QQP become
    "paws_adversarial" and "paws_duplicates". Names imply groups: HANS's "n" is ood and "e" ood-entailment; the task's
    own sets are id; other subsets are ood, unless their name says paraphrases, duplicates or entailed pairs.

    Args:
        names: The names in the files.
        task: "mnli" or "qqp".
        groups: Groups by either name of a subset, for subsets whose name implies a wrong group.

    Raises:
        InputError: If a group is unknown.
    """
    for name, group in groups.items():
        if group not in GROUPS:
            raise InputError(f"published_groups: {name} = {group!r} is not a group; choose from {', '.join(GROUPS)}")
    subsets = {name: _name_subset(name, task) for name in names}
    new_groups = {subsets[name].subset if name in subsets else name: group for name, group in groups.items()}
    return {
        name: subset._replace(group=new_groups.get(subset.subset, subset.group)) for name, subset in subsets.items()
    }


def _name_subset(name: str, task: str) -> PublishedSubset:
    """Derive name, group and family from the name in the file."""
    if name in EXPLICIT_NAMES:
        return PublishedSubset(*EXPLICIT_NAMES[name], None)
    if hans := HANS_PATTERN.fullmatch(name):
        subset, family, kind = hans.groups()
        group = "ood" if kind == "n" else "ood-entailment"
        return PublishedSubset(re.sub(r"[^\w.-]", "-", subset, flags=re.ASCII), group, FAMILIES[family])
    words = re.findall(r"[a-z0-9]+", name.lower())
    if {task, *IN_DOMAIN_WORDS} & set(words) and not any(word.startswith("paws") for word in words):
        rest = [word for word in words if word not in (task, "validation", "dev", "val")] or ["validation"]
        return PublishedSubset("_".join([task, *rest]), "id", None)
    is_entailment = any(word.startswith(ENTAILMENT_PREFIXES) for word in words)
    is_negated = "no" in words or any(word.startswith(NEGATION_PREFIXES) for word in words)
    subset = re.sub(r"[^\w.]", "_", name, flags=re.ASCII)
    return PublishedSubset(subset, "ood-entailment" if is_entailment and not is_negated else "ood", None)
