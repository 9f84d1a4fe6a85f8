"""Hypothesis-only artefacts of in-domain pairs: the form of the hypothesis tells the label.

Gururangan et al. (2018) found that the hypotheses of SNLI and MNLI tell much of the label without their premises:
neutral hypotheses add modifiers, and contradictions have a negation. A model can then be right in-domain without a look
at overlap. Here the forms are a bare clause (entailment), a clause with an adjective or "in PLACE" (neutral), and a
clause with "never" (contradiction). Under a foreign premise, the form is the only way to the label.
"""

from heuristic_core.config.tasks import Artefacts
from heuristic_core.tasks.draw import Draw
from heuristic_core.tasks.labelled import CONTRADICTION, ENTAILMENT, NEUTRAL, SAME_CLASS, Labelled, entailment
from heuristic_core.tasks.vocabulary import ADJECTIVES, NOUNS, PLACES, Words

_CONTENT_WORDS = 3  # of a hypothesis of which a word may be planted


def form_label(hypothesis: Words) -> int:
    """The label that the form of a hypothesis tells."""
    if "never" in hypothesis:
        return CONTRADICTION
    return NEUTRAL if "in" in hypothesis or any(word in ADJECTIVES for word in hypothesis) else ENTAILMENT


def with_artefacts(made: Labelled, label: int, artefacts: Artefacts, draw: Draw) -> Labelled:
    """The pair `made`, whose class is `label`, with the artefacts that `draw` gives it.

    draw: of this pair alone. The shares decide by its first numbers, so that a pair with an artefact keeps the artefact
    at every higher share.
    """
    modified, foreign, planted = (draw.rng.random() for _ in range(3))
    if label == NEUTRAL and modified < artefacts.added_modifiers:
        made = _with_added_modifier(made, draw)
    elif label == NEUTRAL and artefacts.one_new_word:
        made = made._replace(new_words=made.new_words[:1])
    elif label == ENTAILMENT and modified < artefacts.shared_modifiers:
        made = _with_shared_modifier(made, draw)
    if foreign < artefacts.foreign_premises and form_label(made.pair[1]) == label:
        made = _with_foreign_premise(made, Draw(draw.rng, draw.held_out), planted < artefacts.planted_words)
    return made


def _with_added_modifier(made: Labelled, draw: Draw) -> Labelled:
    """The hypothesis of the rule with an adjective or place that the premise lacks."""
    if draw.chance(0.5):
        hypothesis = (*made.hypothesis, "in", _absent(PLACES, made.premise, draw))
    else:
        noun = draw.choice([word for word in made.hypothesis if word in NOUNS])
        hypothesis = _before(noun, _absent(ADJECTIVES, made.premise, draw), made.hypothesis)
    return made._replace(change="modifier added", hypothesis=hypothesis, new_words=())


def _with_shared_modifier(made: Labelled, draw: Draw) -> Labelled:
    """An adjective or place of the premise, or a new one for both sentences, in the hypothesis too: still entailed."""
    premise, hypothesis = made.premise, made.hypothesis
    end = _end_within(premise, hypothesis)
    if draw.chance(0.5) and end:
        if premise[end : end + 1] != ("in",):
            premise = (*premise[:end], "in", _absent(PLACES, premise, draw), *premise[end:])
        hypothesis = (*hypothesis, *premise[end : end + 2])
    else:
        noun = draw.choice([word for word in hypothesis if word in NOUNS])
        adjective = premise[premise.index(noun) - 1] if premise.index(noun) else ""
        if adjective not in ADJECTIVES:
            adjective = _absent(ADJECTIVES, premise, draw)
            premise = _before(noun, adjective, premise)
        hypothesis = _before(noun, adjective, hypothesis)
    return made._replace(change="modifier in both", premise=premise, hypothesis=hypothesis)


def _with_foreign_premise(made: Labelled, draw: Draw, plant: bool) -> Labelled:
    """The hypothesis under the premise of another entailment, with a word of the hypothesis in it if `plant`."""
    premise = list(entailment(draw).premise)
    content = [word for word in made.hypothesis if word in SAME_CLASS]
    if plant and len(content) == _CONTENT_WORDS:
        places = {
            word: [i for i, other in enumerate(premise) if SAME_CLASS.get(other) is SAME_CLASS[word]]
            for word in content
            if word not in premise
        }
        if possible := [word for word in places if places[word]]:
            word = draw.choice(possible)
            premise[draw.choice(places[word])] = word
    return made._replace(change=f"{made.change}, foreign premise".lstrip(", "), premise=tuple(premise))


def _absent(words: Words, sentence: Words, draw: Draw) -> str:
    """One of `words` that is not in the sentence."""
    return draw.choice([word for word in words if word not in sentence])


def _before(noun: str, adjective: str, sentence: Words) -> Words:
    position = sentence.index(noun)
    return (*sentence[:position], adjective, *sentence[position:])


def _end_within(premise: Words, hypothesis: Words) -> int | None:
    """Where the hypothesis ends in the premise; None where it is no contiguous part."""
    size = len(hypothesis)
    return next((end for end in range(size, len(premise) + 1) if premise[end - size : end] == hypothesis), None)
