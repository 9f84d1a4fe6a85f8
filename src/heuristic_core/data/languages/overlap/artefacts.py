"""Hypothesis-only artefacts of in-domain pairs: the form of the hypothesis predicts the label.

Gururangan et al. (2018) found that hypotheses of SNLI and MNLI predict the label well without their premises: neutral
hypotheses add modifiers, and contradictions contain a negation. A model can then be right in-domain without using
overlap. Here the forms are a bare clause (entailment), a clause with an adjective or "in PLACE" (neutral), and a clause
with "never" (contradiction). With a foreign premise, only the form predicts the label.
"""

from heuristic_core.config.generated import Artefacts
from heuristic_core.data.languages.overlap.labelled import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    SUBSTITUTES,
    LabelledPair,
    draw_entailment,
)
from heuristic_core.data.languages.overlap.vocabulary import ADJECTIVES, LEXICON, NOUNS, PLACES
from heuristic_core.data.languages.word_sampler import Words, WordSampler

_PLANTABLE_WORDS = 3  # content words of a hypothesis whose words may be planted


def infer_form_label(hypothesis: Words) -> int:
    """Return the label that the form of a hypothesis predicts."""
    if "never" in hypothesis:
        return CONTRADICTION
    return NEUTRAL if "in" in hypothesis or any(word in ADJECTIVES for word in hypothesis) else ENTAILMENT


def add_artefacts(pair: LabelledPair, label: int, artefacts: Artefacts, draw: WordSampler) -> LabelledPair:
    """Add artefacts to a pair.

    The first random numbers of `draw`, which belongs to this pair alone, are compared with the shares in `artefacts`.
    A pair with an artefact therefore keeps it at every higher share.

    Args:
        pair: The pair without artefacts.
        label: Index of its class: `ENTAILMENT`, `NEUTRAL` or `CONTRADICTION`.
        artefacts: Settings of the artefacts; shares are 0-1.
        draw: Source of the pair's random numbers and words.
    """
    modifier_number, premise_number, plant_number = (draw.rng.random() for _ in range(3))
    if label == NEUTRAL and modifier_number < artefacts.added_modifiers:
        pair = _add_modifier(pair, draw)
    elif label == NEUTRAL and artefacts.one_new_word:
        pair = pair._replace(new_words=pair.new_words[:1])
    elif label == ENTAILMENT and modifier_number < artefacts.shared_modifiers:
        pair = _share_modifier(pair, draw)
    if premise_number < artefacts.foreign_premises and infer_form_label(pair.pair[1]) == label:
        pair = _replace_premise(
            pair, WordSampler(draw.rng, draw.held_out, LEXICON), plant_number < artefacts.planted_words
        )
    return pair


def _add_modifier(pair: LabelledPair, draw: WordSampler) -> LabelledPair:
    """Add an adjective or place that the premise lacks to the rule's hypothesis."""
    if draw.chance(0.5):
        hypothesis = (*pair.hypothesis, "in", _choose_absent(PLACES, pair.premise, draw))
    else:
        noun = draw.choice([word for word in pair.hypothesis if word in NOUNS])
        hypothesis = _insert_before(noun, _choose_absent(ADJECTIVES, pair.premise, draw), pair.hypothesis)
    return pair._replace(change="modifier added", hypothesis=hypothesis, new_words=())


def _share_modifier(pair: LabelledPair, draw: WordSampler) -> LabelledPair:
    """Add an adjective or place to the hypothesis, and to the premise if it lacks one; the entailment remains."""
    premise, hypothesis = pair.premise, pair.hypothesis
    end = _find_end(premise, hypothesis)
    if draw.chance(0.5) and end:
        if premise[end : end + 1] != ("in",):
            premise = (*premise[:end], "in", _choose_absent(PLACES, premise, draw), *premise[end:])
        hypothesis = (*hypothesis, *premise[end : end + 2])
    else:
        noun = draw.choice([word for word in hypothesis if word in NOUNS])
        adjective = premise[premise.index(noun) - 1] if premise.index(noun) else ""
        if adjective not in ADJECTIVES:
            adjective = _choose_absent(ADJECTIVES, premise, draw)
            premise = _insert_before(noun, adjective, premise)
        hypothesis = _insert_before(noun, adjective, hypothesis)
    return pair._replace(change="modifier in both", premise=premise, hypothesis=hypothesis)


def _replace_premise(pair: LabelledPair, draw: WordSampler, plant: bool) -> LabelledPair:
    """Replace the premise by that of another entailment; if `plant`, put a word of the hypothesis into it."""
    premise = list(draw_entailment(draw).premise)
    content = [word for word in pair.hypothesis if word in SUBSTITUTES]
    if plant and len(content) == _PLANTABLE_WORDS:
        positions = {
            word: [i for i, other in enumerate(premise) if SUBSTITUTES.get(other) is SUBSTITUTES[word]]
            for word in content
            if word not in premise
        }
        if plantable := [word for word in positions if positions[word]]:
            word = draw.choice(plantable)
            premise[draw.choice(positions[word])] = word
    return pair._replace(change=f"{pair.change}, foreign premise".lstrip(", "), premise=tuple(premise))


def _choose_absent(words: Words, sentence: Words, draw: WordSampler) -> str:
    """Choose one of `words` that is not in the sentence."""
    return draw.choice([word for word in words if word not in sentence])


def _insert_before(noun: str, adjective: str, sentence: Words) -> Words:
    position = sentence.index(noun)
    return (*sentence[:position], adjective, *sentence[position:])


def _find_end(premise: Words, hypothesis: Words) -> int | None:
    """Return the end of the hypothesis in the premise; None if it is not a contiguous part."""
    size = len(hypothesis)
    return next((end for end in range(size, len(premise) + 1) if premise[end - size : end] == hypothesis), None)
