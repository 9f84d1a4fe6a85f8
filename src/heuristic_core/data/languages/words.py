"""Words that several generated languages share."""

from heuristic_core.data.languages.word_sampler import Words


def split_words(words: str) -> Words:
    """Return words separated by white space."""
    return tuple(words.split())


PEOPLE = split_words(
    """
    actor artist author banker chef clerk cook dancer doctor driver farmer guard judge king lawyer manager nurse pilot
    poet president professor queen sailor scientist senator singer soldier student teacher tourist waiter writer
    """
)
PREPOSITIONS = split_words("near behind beside opposite")
ADJECTIVES = split_words("old tall young famous clever tired happy polite")
