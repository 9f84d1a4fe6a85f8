"""Generated tasks of a configuration: languages, artefacts and controls. See :mod:`heuristic_core.config.blocks`."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from heuristic_core.config.blocks import Block, NonNegative, Pairs, PathName, Seed, Share, Tokens, Unit
from heuristic_core.config.subset_names import COUNTER_EXAMPLE_NAMES, GENERATED_NAMES

CLASS_NAMES = {
    "overlap": ["entailment", "neutral", "contradiction"],
    "agreement": ["wrong", "right"],
    "roles": ["agent", "patient"],
    "parity": ["even", "odd"],
}
Language = Literal["overlap", "agreement", "roles", "parity"]
PARITY_LENGTH = 16  # of a sequence
LONGEST = {"agreement": 14, "roles": 15, "parity": PARITY_LENGTH + 2}  # tokens of a sentence, special ones included
TARGET_LANGUAGES = ("roles",)  # in which a word of each sentence is classified


def _check_phrase(text: str) -> str:
    """Return a phrase for captions, which must have no markup."""
    if not re.fullmatch(r"[^\W_]+([ ,'’-]+[^\W_]+)*", text) or len(text) > 60:
        raise ValueError(f"{text!r} must be a short phrase of at most 60 letters, such as word overlap")
    return text


Heuristic = Annotated[
    Annotated[str, AfterValidator(_check_phrase)] | None,
    Field(
        exclude_if=lambda phrase: phrase is None,  # so that study.json of studies without it does not change
        description="name of the heuristic that fails on the out-of-domain subsets, for captions, such as "
        "`word overlap`; default: not mentioned",
    ),
]


class Artefacts(Block):
    """Hypothesis-only artefacts of a generated task (Gururangan et al. 2018), only in training and in-domain pairs.

    For a share of the pairs, the form of the hypothesis then predicts the label, whatever the premise: a bare clause is
    entailed, an adjective or "in PLACE" is neutral, and "never" is a contradiction. Other pairs are the same as
    without artefacts, and a higher share changes further pairs. Counter-examples have no artefact. See
    :mod:`heuristic_core.data.languages.overlap.artefacts`.
    """

    added_modifiers: Share = Field(
        0.0,
        description="share of neutral pairs whose hypothesis has an adjective or place that the premise lacks, and "
        "no other new word",
    )
    one_new_word: bool = Field(
        False, description="whether hypotheses of other neutral pairs have exactly one new word instead of one to three"
    )
    shared_modifiers: Share = Field(
        0.0, description="share of entailments whose two sentences have the same adjective or place"
    )
    foreign_premises: Share = Field(
        0.0,
        description="share of pairs with the premise of an unrelated entailment and an unchanged label, among pairs "
        "whose hypothesis predicts the label by its form",
    )
    planted_words: Share = Field(
        0.0,
        description="share of foreign premises with one word of the hypothesis, among hypotheses of three content "
        "words",
    )

    @model_validator(mode="after")
    def _check_planted_words(self):
        if self.planted_words and not self.foreign_premises:
            raise ValueError(
                f"planted_words = {self.planted_words} has no effect without foreign premises; set foreign_premises "
                "above 0, or planted_words = 0"
            )
        return self


class UnlabelledText(Block):
    """What unlabelled text of a generated language depends on."""

    language: Language = "overlap"
    counter_examples: Share = 0.0
    counter_example_weights: list[NonNegative] = Field([])


PAIRS_TEXT = UnlabelledText()


class GeneratedTask(Block):
    """A generated language; see :mod:`heuristic_core.data.languages`."""

    name: PathName
    source: Literal["generated"] = Field(description="chooses this block")
    language: Language = Field(
        "overlap",
        exclude_if=lambda language: language == "overlap",  # so that settings of tasks without it do not change
        description="`overlap`: does the first sentence entail the second? `agreement`: is the verb right for its "
        "subject? `roles`: is the marked noun the one who acts? `parity`: is the number "
        "of ones at hidden positions even?",
    )
    heuristic: Heuristic = None
    seed: Seed = Field(description="of the drawn examples")
    train_pairs: Pairs = Field(description="training examples to draw")
    counter_examples: Share = Field(description="share of training examples on which the heuristic is wrong")
    counter_example_weights: Annotated[list[NonNegative], Unit("")] = Field(
        description="how often each subcase occurs among the counter-examples; 11 subcases of `overlap`, 5 of "
        "`agreement` and `roles`, 1 of `parity`",
    )
    artefacts: Artefacts = Field(Artefacts(), description="of `overlap`; default: none")
    random_labels: bool = Field(
        False,
        exclude_if=lambda random_labels: not random_labels,  # so that settings of tasks without it do not change
        description="whether training labels are drawn at random, a control in which there is nothing to learn",
    )
    id_pairs: Pairs = Field(description="in-domain evaluation examples")
    pairs_per_subcase: Pairs = Field(description="evaluation examples of each subcase")
    max_length: Tokens = Field(description="maximum length of an encoded example, in tokens")

    @property
    def sentence_count(self) -> int:
        """Number of sentences of an example."""
        return 2 if self.language == "overlap" else 1

    @property
    def has_target(self) -> bool:
        """Whether a word of each sentence is classified."""
        return self.language in TARGET_LANGUAGES

    @property
    def text(self) -> UnlabelledText:
        """What the unlabelled text for pre-training depends on; text of `overlap` has all rules equally often."""
        if self.language == "overlap":
            return PAIRS_TEXT
        return UnlabelledText(
            language=self.language,
            counter_examples=self.counter_examples,
            counter_example_weights=self.counter_example_weights,
        )

    @property
    def labels(self) -> list[str]:
        """Names of the classes."""
        return CLASS_NAMES[self.language]

    @property
    def subsets(self) -> list[str]:
        """Names of the evaluation subsets."""
        return list(GENERATED_NAMES[self.language])

    @field_validator("counter_example_weights")
    @classmethod
    def _check_weights(cls, weights: list[float], fields: ValidationInfo):
        if "language" not in fields.data:  # it is wrong, which has its own message
            return weights
        names = COUNTER_EXAMPLE_NAMES[fields.data["language"]]
        if len(weights) != len(names):
            raise ValueError(f"has {len(weights)} numbers; give {len(names)}, one for each of {', '.join(names)}")
        if not any(weights):
            raise ValueError("are all 0; set at least one of them above 0")
        return weights

    @model_validator(mode="after")
    def _check_length(self):
        needed = LONGEST.get(self.language, 0)
        if self.max_length < needed:
            raise ValueError(
                f"max_length = {self.max_length}, but sentences of {self.language!r} have up to {needed} tokens, "
                f"special ones included; set at least {needed}"
            )
        return self

    @model_validator(mode="after")
    def _check_parity(self):
        if self.language != "parity":
            return self
        if self.counter_examples:
            raise ValueError(f"counter_examples = {self.counter_examples}: 'parity' has none in training; set 0")
        if self.id_pairs > self.train_pairs:
            raise ValueError(
                f"id_pairs = {self.id_pairs} exceeds train_pairs = {self.train_pairs}, from which they are taken"
            )
        if self.train_pairs + 4 * self.pairs_per_subcase > 2**PARITY_LENGTH:
            raise ValueError(
                f"train_pairs = {self.train_pairs} of {2**PARITY_LENGTH} sequences leave too few for pairs_per_subcase "
                f"= {self.pairs_per_subcase}; lower one of them"
            )
        return self

    @model_validator(mode="after")
    def _check_artefacts(self):
        if self.language != "overlap" and self.artefacts != Artefacts():
            raise ValueError(f"artefacts are of the language 'overlap'; remove them, or language: {self.language}")
        return self
