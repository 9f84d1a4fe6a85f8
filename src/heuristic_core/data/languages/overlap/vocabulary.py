"""Words of the miniature's language, by part of speech and by what they imply about the adjacent clause."""

from heuristic_core.data.languages.word_sampler import Lexicon, Words


def _split(words: str) -> Words:
    return tuple(words.split())


NOUNS = _split(
    """
    actors artists authors bankers chefs clerks cooks dancers doctors drivers farmers guards judges kings lawyers
    managers nurses pilots poets presidents professors queens sailors scientists secretaries senators singers
    soldiers students teachers tourists waiters
    """
)
TRANSITIVE = _split(
    """
    advised called chased contacted encouraged followed helped introduced liked met mentioned noticed praised
    recognized saw stopped supported thanked visited watched
    """
)
INTRANSITIVE = _split("slept ran danced sang laughed smiled waited shouted left arrived paused worked")
PREPOSITIONS = _split("near behind beside opposite")
ADJECTIVES = _split("old tall young famous clever tired happy polite")
PLACES = _split("banks parks museums offices stations towns schools")
# Cue words: in each line, those of the first table imply their clause, those of the second do not.
FACTUAL_CONJUNCTIONS, CONDITIONALS = _split("because since when after"), _split("if unless")
FACTIVES, NON_FACTIVES = _split("knew forgot"), _split("believed claimed hoped")
CERTAIN_ADVERBS, DOUBTFUL_ADVERBS = _split("certainly clearly"), _split("probably perhaps")
FUNCTION_WORDS = _split("who and or , that were by in never")

CONTENT_WORDS = NOUNS + TRANSITIVE + INTRANSITIVE + PREPOSITIONS + ADJECTIVES + PLACES
CUE_WORDS = FACTUAL_CONJUNCTIONS + CONDITIONALS + FACTIVES + NON_FACTIVES + CERTAIN_ADVERBS + DOUBTFUL_ADVERBS
WORDS = tuple(sorted(CONTENT_WORDS + CUE_WORDS + FUNCTION_WORDS))
LEXICON = Lexicon(NOUNS, TRANSITIVE, INTRANSITIVE)
