"""Readable names of known evaluation subsets, for figures and tables; -E marks subsets with entailed hypotheses."""

# The evaluation subsets of a generated task, as :mod:`heuristic_core.data.language` makes them.
GENERATED_NAMES = {
    "in_domain": "In-domain",
    "ln_so_swap": "SO-Swap", "ln_prep": "Prep", "ln_rel": "Rel", "ln_passive": "Passive", "ln_conj": "Conj",
    "sn_pp": "PP-Subj", "sn_rel": "Rel-Subj",
    "cn_if": "Embed-If", "cn_verb": "Embed-Verb", "cn_adv": "Adverb", "cn_or": "Disj",
    "le_prep": "Prep-E", "le_rel": "Rel-E", "le_passive": "Passive-E", "le_conj": "Conj-E",
    "se_modified": "Modified-E", "se_adjunct": "Adjunct-E",
    "ce_because": "Because-E", "ce_verb": "Embed-Verb-E", "ce_adv": "Adverb-E", "ce_and": "And-E",
    "ce_scope": "Scope-E",
}  # fmt: skip
# The subsets of MNLI and HANS (McCoy et al. 2019), with the paper's names where it has one.
HANS_NAMES = {
    "mnli_matched": "MNLI-m", "mnli_mismatched": "MNLI-mm",
    "ln_subject-object_swap": "SO-Swap", "ln_preposition": "Prep", "ln_relative_clause": "Rel", "ln_passive": "Passive",
    "ln_conjunction": "Conj",
    "sn_NP-S": "NP/S", "sn_PP_on_subject": "PP-Subj", "sn_relative_clause_on_subject": "Rel-Subj",
    "sn_past_participle": "Past-Part", "sn_NP-Z": "NP/Z",
    "cn_embedded_under_if": "Embed-If", "cn_after_if_clause": "After-If", "cn_embedded_under_verb": "Embed-Verb",
    "cn_disjunction": "Disj", "cn_adverb": "Adverb",
    "le_relative_clause": "Rel-E", "le_around_prepositional_phrase": "Prep-E",
    "le_around_relative_clause": "Around-Rel-E", "le_conjunction": "Conj-E", "le_passive": "Passive-E",
    "se_conjunction": "NP-Conj-E", "se_adjective": "Adjective-E", "se_understood_object": "Object-E",
    "se_relative_clause_on_obj": "Rel-Obj-E", "se_PP_on_obj": "PP-Obj-E",
    "ce_embedded_under_since": "Since-E", "ce_after_since_clause": "After-Since-E",
    "ce_embedded_under_verb": "Embed-Verb-E", "ce_conjunction": "S-Conj-E", "ce_adverb": "Adverb-E",
}  # fmt: skip
