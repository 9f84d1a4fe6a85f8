"""Readable names of known evaluation subsets, for figures and tables; -E: the heuristic is right."""

# The counter-examples of generated languages (:mod:`heuristic_core.data.languages`), in the order of their weights.
COUNTER_EXAMPLE_NAMES = {
    "overlap": {
        "ln_so_swap": "SO-Swap", "ln_prep": "Prep", "ln_rel": "Rel", "ln_passive": "Passive", "ln_conj": "Conj",
        "sn_pp": "PP-Subj", "sn_rel": "Rel-Subj",
        "cn_if": "Embed-If", "cn_verb": "Embed-Verb", "cn_adv": "Adverb", "cn_or": "Disj",
    },
    "agreement": {
        "n_prepositional": "PP", "n_several": "PP-PP",
        "n_subject_relative": "Subj-Rel", "n_object_relative": "Obj-Rel",
        "n_coordination": "Coord",
    },
    "roles": {
        "n_passive": "Passive", "n_short_passive": "Short-Passive",
        "n_object_relative": "Obj-Rel", "n_object_cleft": "Obj-Cleft",
        "n_giving_passive": "Give-Passive",
    },
    "parity": {"unseen_odd": "Unseen odd"},
}  # fmt: skip
COUNTER_EXAMPLES = [name for names in COUNTER_EXAMPLE_NAMES.values() for name in names]
# All evaluation subsets of these languages.
GENERATED_NAMES = {
    "overlap": {"in_domain": "In-domain"} | COUNTER_EXAMPLE_NAMES["overlap"] | {
        "le_prep": "Prep-E", "le_rel": "Rel-E", "le_passive": "Passive-E", "le_conj": "Conj-E",
        "se_modified": "Modified-E", "se_adjunct": "Adjunct-E",
        "ce_because": "Because-E", "ce_verb": "Embed-Verb-E", "ce_adv": "Adverb-E", "ce_and": "And-E",
        "ce_scope": "Scope-E",
    },
    "agreement": {"in_domain": "In-domain"} | COUNTER_EXAMPLE_NAMES["agreement"] | {
        "e_prepositional": "PP-E", "e_several": "PP-PP-E",
        "e_subject_relative": "Subj-Rel-E", "e_object_relative": "Obj-Rel-E",
        "e_coordination": "Coord-E",
    },
    "roles": {"in_domain": "In-domain"} | COUNTER_EXAMPLE_NAMES["roles"] | {
        "e_progressive": "Progressive-E", "e_short_progressive": "Short-Progr-E",
        "e_subject_relative": "Subj-Rel-E", "e_subject_cleft": "Subj-Cleft-E",
        "e_giving": "Give-E",
    },
    "parity": {"in_domain": "Seen", "unseen_odd": "Unseen odd", "unseen_even": "Unseen even"},
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
