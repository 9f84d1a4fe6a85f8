"""Semantic roles: is the marked noun the one who acts (agent), or not (patient)?

The shallow heuristic "the first noun acts" is right in-domain. It is wrong on the counter-examples, whose first noun is
a patient: passives, object relatives, clefts and passives of verbs with two objects. The counterparts are active
sentences with words of the same kinds, such as "was", "by" and "who", whose first noun is the agent.
"""

from heuristic_core.config.generated import CLASS_NAMES
from heuristic_core.data.languages.single_sentences import HEURISTIC_CLASS, Example, Rule, Rules, make_language
from heuristic_core.data.languages.word_sampler import Lexicon, Words, WordSampler
from heuristic_core.data.languages.words import ADJECTIVES, PEOPLE, split_words

# Stems, to which "ed" and "ing" are added.
TRANSITIVE = split_words(
    "advis call contact encourag follow help visit greet mention notic prais invit support thank watch push"
)
INTRANSITIVE = split_words("walk jump danc work laugh smil wait shout")
GIVING = split_words("hand offer award mail")
THINGS = split_words("book letter coin flower map ring")
PLACES = split_words("garden park museum station town school")
FUNCTION_WORDS = split_words("the who was by it in to")


def _past(verb: str) -> str:
    """Return a past form or participle, which are the same word: "helped"."""
    return f"{verb}ed"


def _progressive(verb: str) -> str:
    """Return a form such as "helping"."""
    return f"{verb}ing"


def _place(draw: WordSampler, chance: float = 0.3) -> Words:
    """Draw "in the park" or "by the garden", or nothing."""
    return (draw.choice(("in", "by")), "the", draw.choice(PLACES)) if draw.chance(chance) else ()


def _noun(draw: WordSampler, noun: str) -> Words:
    """Return "the judge", or with an adjective."""
    return ("the", draw.choice(ADJECTIVES), noun) if draw.chance(0.3) else ("the", noun)


def _mark(words: Words, agent: str | None, patient: str | None, label: int) -> Example:
    """Mark the agent or the patient, as the label says; the other one if the sentence lacks it."""
    is_agent = agent is not None and (label == HEURISTIC_CLASS or patient is None)
    return Example(words, 0 if is_agent else 1, words.index(agent if is_agent else patient))


# ---- in-domain: the first noun is the agent


def active(draw: WordSampler, label: int) -> Example:
    """Make "the old judge helped the king in the park" or "the judge was helping the king"."""
    a, v, b = draw.transitive()
    verb = (_past(v),) if draw.chance(0.6) else ("was", _progressive(v))
    return _mark((*_noun(draw, a), *verb, *_noun(draw, b), *_place(draw)), a, b, label)


def intransitive(draw: WordSampler, label: int) -> Example:
    """Make "the judge was waiting by the garden"; there is no patient."""
    a, v = draw.intransitive()
    verb = (_past(v),) if draw.chance(0.6) else ("was", _progressive(v))
    return _mark((*_noun(draw, a), *verb, *_place(draw)), a, None, label)


def giving(draw: WordSampler, label: int) -> Example:
    """Make "the judge handed the king the book" or "the judge was handing the book to the king"."""
    (a, v, b), thing = draw.ditransitive(), ("the", draw.choice(THINGS))
    verb = (_past(v),) if draw.chance(0.6) else ("was", _progressive(v))
    objects = (*_noun(draw, b), *thing) if draw.chance(0.6) else (*thing, "to", *_noun(draw, b))
    return _mark((*_noun(draw, a), *verb, *objects), a, b, label)


def subject_relative(draw: WordSampler, label: int) -> Example:
    """Make "the judge who helped the king was old"."""
    a, v, b = draw.transitive()
    return _mark((*_noun(draw, a), "who", _past(v), *_noun(draw, b), "was", draw.choice(ADJECTIVES)), a, b, label)


def subject_cleft(draw: WordSampler, label: int) -> Example:
    """Make "it was the judge who helped the king"."""
    a, v, b = draw.transitive()
    return _mark(("it", "was", *_noun(draw, a), "who", _past(v), *_noun(draw, b), *_place(draw)), a, b, label)


# ---- counter-examples: the first noun is the patient


def n_passive(draw: WordSampler, label: int) -> Example:
    """Make "the king was helped by the judge"."""
    a, v, b = draw.transitive()
    return _mark((*_noun(draw, b), "was", _past(v), "by", *_noun(draw, a), *_place(draw)), a, b, label)


def n_short_passive(draw: WordSampler, label: int) -> Example:
    """Make "the king was helped in the park"."""
    b, v = draw.transitive(nouns=1)
    return _mark((*_noun(draw, b), "was", _past(v), *_place(draw, 0.6)), None, b, label)


def n_object_relative(draw: WordSampler, label: int) -> Example:
    """Make "the king who the judge helped was old"."""
    a, v, b = draw.transitive()
    return _mark((*_noun(draw, b), "who", *_noun(draw, a), _past(v), "was", draw.choice(ADJECTIVES)), a, b, label)


def n_object_cleft(draw: WordSampler, label: int) -> Example:
    """Make "it was the king who the judge helped"."""
    a, v, b = draw.transitive()
    return _mark(("it", "was", *_noun(draw, b), "who", *_noun(draw, a), _past(v), *_place(draw)), a, b, label)


def n_giving_passive(draw: WordSampler, label: int) -> Example:
    """Make "the king was handed the book by the judge"; the by-phrase can be left out."""
    thing = ("the", draw.choice(THINGS))
    if draw.chance(0.4):
        b, v = draw.ditransitive(nouns=1)
        return _mark((*_noun(draw, b), "was", _past(v), *thing), None, b, label)
    a, v, b = draw.ditransitive()
    return _mark((*_noun(draw, b), "was", _past(v), *thing, "by", *_noun(draw, a)), a, b, label)


# ---- counterparts: the first noun is the agent


def e_progressive(draw: WordSampler, label: int) -> Example:
    """Make "the judge was helping the king by the garden"."""
    a, v, b = draw.transitive()
    return _mark((*_noun(draw, a), "was", _progressive(v), *_noun(draw, b), *_place(draw, 0.6)), a, b, label)


def e_short_progressive(draw: WordSampler, label: int) -> Example:
    """Make "the judge was waiting in the park"."""
    a, v = draw.intransitive()
    return _mark((*_noun(draw, a), "was", _progressive(v), *_place(draw, 0.6)), a, None, label)


def e_subject_relative(draw: WordSampler, label: int) -> Example:
    """Make "the judge who helped the king was old"."""
    return subject_relative(draw, label)


def e_subject_cleft(draw: WordSampler, label: int) -> Example:
    """Make "it was the judge who helped the king"."""
    return subject_cleft(draw, label)


def e_giving(draw: WordSampler, label: int) -> Example:
    """Make "the judge was handing the king the book"."""
    (a, v, b), thing = draw.ditransitive(), ("the", draw.choice(THINGS))
    return _mark((*_noun(draw, a), "was", _progressive(v), *_noun(draw, b), *thing), a, b, label)


IN_DOMAIN: dict[Rule, float] = {active: 4, intransitive: 1, giving: 2, subject_relative: 1.5, subject_cleft: 1.5}
RULES = Rules(
    in_domain=IN_DOMAIN,
    counter_examples={
        "passive": (n_passive, n_short_passive),
        "relative": (n_object_relative, n_object_cleft),
        "giving": (n_giving_passive,),
    },
    counterparts={
        "passive": (e_progressive, e_short_progressive),
        "relative": (e_subject_relative, e_subject_cleft),
        "giving": (e_giving,),
    },
)
VERBS = TRANSITIVE + INTRANSITIVE + GIVING
CLASSES = {
    "noun": PEOPLE,
    "past": tuple(map(_past, VERBS)),
    "progressive": tuple(map(_progressive, VERBS)),
    "thing": THINGS,
    "adjective": ADJECTIVES,
    "place": PLACES,
}
LANGUAGE = make_language(
    CLASSES, FUNCTION_WORDS, Lexicon(PEOPLE, TRANSITIVE, INTRANSITIVE, GIVING), tuple(CLASS_NAMES["roles"]), RULES
)
