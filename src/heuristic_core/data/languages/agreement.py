"""Subject-verb agreement: is the main verb right or wrong for its subject?

The shallow heuristic "the verb agrees with the nearest noun before it" is right in-domain. It is wrong on the
counter-examples, where this noun has another number than the subject: it rejects the right verb. So does "all nouns
have the verb's number". The counterparts have a wrong verb, which both reject.
"""

from collections.abc import Callable

from heuristic_core.config.generated import CLASS_NAMES
from heuristic_core.data.languages.single_sentences import HEURISTIC_CLASS, OTHER_CLASS, Example, Rules, make_language
from heuristic_core.data.languages.word_sampler import Lexicon, Words, WordSampler
from heuristic_core.data.languages.words import ADJECTIVES, PEOPLE, PREPOSITIONS, split_words

TRANSITIVE = split_words(
    "advise call contact encourage follow greet help like mention notice praise support thank visit"
)
INTRANSITIVE = split_words("sleep run dance sing laugh smile wait shout leave arrive pause work")
ADVERBS = split_words("often rarely always")
FUNCTION_WORDS = split_words("the who and")
SINGULAR, PLURAL = 0, 1

Subject = tuple[Words, int]  # words before the verb, and the number that it agrees with


def inflect_noun(noun: str, number: int) -> str:
    """Return "judge" or "judges"."""
    return noun if number == SINGULAR else f"{noun}s"


def inflect_verb(verb: str, number: int) -> str:
    """Return "likes" or "like"."""
    return f"{verb}s" if number == SINGULAR else verb


def make_past(verb: str) -> str:
    """Return "liked" or "helped", which agree with any subject."""
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"


def _phrase(noun: str, number: int) -> Words:
    return ("the", inflect_noun(noun, number))


def _draw_number(draw: WordSampler) -> int:
    return draw.rng.randrange(2)


def _finish(draw: WordSampler, label: int, make_subject: Callable[[WordSampler, str], Subject]) -> Example:
    """Draw a clause, make its subject, and add a verb that is right or wrong for it."""
    noun, verb, *objects = draw.clause()
    words, number = make_subject(draw, noun)
    adverb = (draw.choice(ADVERBS),) if draw.chance(0.2) else ()
    form = inflect_verb(verb, 1 - number if label == HEURISTIC_CLASS else number)
    return Example(
        (*words, *adverb, form, *(word for noun in objects for word in _phrase(noun, _draw_number(draw)))), label
    )


# ---- subjects: the numbers of the subject and of the attractor are those of the arguments


def _prepositional(draw: WordSampler, noun: str, number: int, attractor: int) -> Subject:
    """Make "the judge near the kings"."""
    words = (*_phrase(noun, number), draw.choice(PREPOSITIONS), *_phrase(draw.noun(), attractor))
    return words, number


def _subject_relative(draw: WordSampler, noun: str, number: int, attractor: int) -> Subject:
    """Make "the judge who liked the kings"."""
    verb = make_past(draw.choice(TRANSITIVE))
    return (*_phrase(noun, number), "who", verb, *_phrase(draw.noun(), attractor)), number


def _object_relative(draw: WordSampler, noun: str, number: int, attractor: int) -> Subject:
    """Make "the judge who the kings like"."""
    verb = inflect_verb(draw.choice(TRANSITIVE), attractor)
    return (*_phrase(noun, number), "who", *_phrase(draw.noun(), attractor), verb), number


def _several(draw: WordSampler, noun: str, number: int, attractor: int) -> Subject:
    """Make "the judge near the kings behind the poets"; the first attractor has any number."""
    words, _ = _prepositional(draw, noun, number, _draw_number(draw))
    return (*words, draw.choice(PREPOSITIONS), *_phrase(draw.noun(), attractor)), number


def _coordination(draw: WordSampler, noun: str, first: int, second: int) -> Subject:
    """Make "the judge and the kings"."""
    return (*_phrase(noun, first), "and", *_phrase(draw.noun(), second)), PLURAL


def _fronted(draw: WordSampler, noun: str, number: int, attractor: int) -> Subject:
    """Make "near the kings the judge", whose nearest noun is the subject; there can be a second preposition."""
    words = (draw.choice(PREPOSITIONS), *_phrase(draw.noun(), attractor))
    if draw.chance(0.4):
        words = (*words, draw.choice(PREPOSITIONS), *_phrase(draw.noun(), _draw_number(draw)))
    return (*words, *_phrase(noun, number)), number


def _draw_attracted(draw: WordSampler, label: int, make: Callable, differs: bool) -> Example:
    """Draw a sentence whose nearest noun has the number of the subject, or the other one."""
    number = _draw_number(draw)
    attractor = 1 - number if differs else number
    return _finish(draw, label, lambda draw, noun: make(draw, noun, number, attractor))


# ---- in-domain


def simple(draw: WordSampler, label: int) -> Example:
    """Make "the old judge sleeps"."""

    def make_subject(draw: WordSampler, noun: str) -> Subject:
        number = _draw_number(draw)
        the, form = _phrase(noun, number)
        return ((the, draw.choice(ADJECTIVES), form) if draw.chance(0.4) else (the, form)), number

    return _finish(draw, label, make_subject)


def fronted(draw: WordSampler, label: int) -> Example:
    """Make "near the kings the judge sleeps"."""
    return _finish(draw, label, lambda draw, noun: _fronted(draw, noun, _draw_number(draw), _draw_number(draw)))


def harmless(draw: WordSampler, label: int) -> Example:
    """Make "the judge near the king sleeps": an attractor of the subject's number."""
    number = _draw_number(draw)
    make = draw.choice((_prepositional, _subject_relative, _object_relative))
    return _finish(draw, label, lambda draw, noun: make(draw, noun, number, number))


def plural_coordination(draw: WordSampler, label: int) -> Example:
    """Make "the judge and the kings sleep"; the first noun has any number."""
    return _finish(draw, label, lambda draw, noun: _coordination(draw, noun, _draw_number(draw), PLURAL))


# ---- counter-examples: the nearest noun's number is not the subject's


def n_prepositional(draw: WordSampler, label: int) -> Example:
    """Make "the judge near the kings sleeps"."""
    return _draw_attracted(draw, label, _prepositional, differs=True)


def n_several(draw: WordSampler, label: int) -> Example:
    """Make "the judge near the king behind the poets sleeps"."""
    return _draw_attracted(draw, label, _several, differs=True)


def n_subject_relative(draw: WordSampler, label: int) -> Example:
    """Make "the judge who liked the kings sleeps"."""
    return _draw_attracted(draw, label, _subject_relative, differs=True)


def n_object_relative(draw: WordSampler, label: int) -> Example:
    """Make "the judge who the kings like sleeps"."""
    return _draw_attracted(draw, label, _object_relative, differs=True)


def n_coordination(draw: WordSampler, label: int) -> Example:
    """Make "the judges and the king sleep"."""
    return _finish(draw, label, lambda draw, noun: _coordination(draw, noun, _draw_number(draw), SINGULAR))


# ---- counterparts: the verb is wrong, for the subject and for the nearest noun, which have the same number


def e_prepositional(draw: WordSampler, label: int) -> Example:
    """Make "the judge near the king sleep"."""
    return _draw_attracted(draw, label, _prepositional, differs=False)


def e_several(draw: WordSampler, label: int) -> Example:
    """Make "the judge near the kings behind the poet sleep"; the first attractor has any number."""
    return _draw_attracted(draw, label, _several, differs=False)


def e_subject_relative(draw: WordSampler, label: int) -> Example:
    """Make "the judge who liked the king sleep"."""
    return _draw_attracted(draw, label, _subject_relative, differs=False)


def e_object_relative(draw: WordSampler, label: int) -> Example:
    """Make "the judge who the king likes sleep"."""
    return _draw_attracted(draw, label, _object_relative, differs=False)


def e_coordination(draw: WordSampler, label: int) -> Example:
    """Make "the judges and the kings sleeps"; the first noun has any number."""
    return plural_coordination(draw, label)


RULES = Rules(
    in_domain={simple: 2, fronted: 5, harmless: 2, plural_coordination: 1},
    counter_examples={
        "prepositional": (n_prepositional, n_several),
        "relative": (n_subject_relative, n_object_relative),
        "coordination": (n_coordination,),
    },
    counterparts={
        "prepositional": (e_prepositional, e_several),
        "relative": (e_subject_relative, e_object_relative),
        "coordination": (e_coordination,),
    },
    text_class=OTHER_CLASS,
)
CLASSES = {
    "noun": tuple(inflect_noun(noun, number) for noun in PEOPLE for number in (SINGULAR, PLURAL)),
    "transitive": tuple(inflect_verb(verb, number) for verb in TRANSITIVE for number in (SINGULAR, PLURAL)),
    "intransitive": tuple(inflect_verb(verb, number) for verb in INTRANSITIVE for number in (SINGULAR, PLURAL)),
    "past": tuple(map(make_past, TRANSITIVE)),
    "preposition": PREPOSITIONS,
    "adjective": ADJECTIVES,
    "adverb": ADVERBS,
}
LANGUAGE = make_language(
    CLASSES, FUNCTION_WORDS, Lexicon(PEOPLE, TRANSITIVE, INTRANSITIVE), tuple(CLASS_NAMES["agreement"]), RULES
)
