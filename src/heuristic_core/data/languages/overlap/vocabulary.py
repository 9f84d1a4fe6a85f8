"""Words of the miniature's language, by part of speech and by what they imply about the adjacent clause."""

from heuristic_core.data.languages.word_sampler import Lexicon
from heuristic_core.data.languages.words import ADJECTIVES, PREPOSITIONS, split_words

NOUNS = split_words(
    """
    actors artists authors bankers chefs clerks cooks dancers doctors drivers farmers guards judges kings lawyers
    managers nurses pilots poets presidents professors queens sailors scientists secretaries senators singers
    soldiers students teachers tourists waiters
    """
)
TRANSITIVE = split_words(
    """
    advised called chased contacted encouraged followed helped introduced liked met mentioned noticed praised
    recognized saw stopped supported thanked visited watched
    """
)
INTRANSITIVE = split_words("slept ran danced sang laughed smiled waited shouted left arrived paused worked")
PLACES = split_words("banks parks museums offices stations towns schools")
# Cue words: in each line, those of the first table imply their clause, those of the second do not.
FACTUAL_CONJUNCTIONS, CONDITIONALS = split_words("because since when after"), split_words("if unless")
FACTIVES, NON_FACTIVES = split_words("knew forgot"), split_words("believed claimed hoped")
CERTAIN_ADVERBS, DOUBTFUL_ADVERBS = split_words("certainly clearly"), split_words("probably perhaps")
FUNCTION_WORDS = split_words("who and or , that were by in never")

CONTENT_WORDS = NOUNS + TRANSITIVE + INTRANSITIVE + PREPOSITIONS + ADJECTIVES + PLACES
CUE_WORDS = FACTUAL_CONJUNCTIONS + CONDITIONALS + FACTIVES + NON_FACTIVES + CERTAIN_ADVERBS + DOUBTFUL_ADVERBS
WORDS = tuple(sorted(CONTENT_WORDS + CUE_WORDS + FUNCTION_WORDS))
LEXICON = Lexicon(NOUNS, TRANSITIVE, INTRANSITIVE)
