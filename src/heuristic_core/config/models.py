"""Block `model` of a configuration: the model to fine-tune. See :mod:`heuristic_core.config.blocks`."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from heuristic_core.config.blocks import (
    Block,
    Commit,
    Heads,
    Layers,
    PathName,
    PositiveNumber,
    PositiveSteps,
    Repository,
    Seed,
    Share,
    Tokens,
    Training,
    Width,
)


class Architecture(Block):
    """A BERT encoder of any size, as Hugging Face's ``BertConfig`` describes it."""

    layers: Layers = Field(description="number of layers")
    heads: Heads = Field(description="attention heads per layer")
    hidden: Width = Field(description="width of the residual stream")
    feed_forward: Width = Field(description="width inside the MLP")
    positions: Tokens = Field(description="longest input, in tokens")

    @model_validator(mode="after")
    def _check_heads(self):
        if self.hidden % self.heads:
            raise ValueError(f"hidden = {self.hidden} must be a multiple of heads = {self.heads}")
        return self


class Initialisation(Block):
    """Initial weights of a new model: normal with standard deviation `std`, then scaled."""

    std: PositiveNumber = Field(0.02, description="standard deviation of weights")
    embedding_scale: PositiveNumber = Field(1.0, description="factor on position and type embeddings")
    query_key_scale: PositiveNumber = Field(1.0, description="factor on query and key weights")
    tie_query_key: bool = Field(False, description="key weights start equal to query weights: soft same-word attention")


class Pretraining(Training):
    """Masked-language modelling of a new model on unlabelled pairs of the generated language, before fine-tuning.

    Every step draws new pairs; short pairs come again by chance.
    """

    seed: Seed = Field(description="of the weights, the pairs and what is masked in them")
    related: Share = Field(0.5, description="share of pairs whose two sentences are made from the same words by a rule")
    chosen: Annotated[Share, Field(gt=0)] = Field(0.15, description="share of words to restore")
    replaced: Share = Field(0.1, description="share of these words that are replaced by a random word")
    kept: Share = Field(0.1, description="share of these words that are left unchanged; the others are masked")
    measure_every: PositiveSteps = Field(250, description="steps between measurements of attention and accuracy")

    @model_validator(mode="after")
    def _check_shares(self):
        if self.replaced + self.kept > 1:
            raise ValueError(
                f"replaced = {self.replaced} and kept = {self.kept} are shares of the chosen words; "
                "their sum must be at most 1"
            )
        return self

    @property
    def measure_steps(self) -> tuple[int, ...]:
        """Steps after which attention and accuracy are measured."""
        return (*range(0, self.steps, self.measure_every), self.steps)


class NewModel(Block):
    """A model built from a configuration: no weights are loaded."""

    name: PathName
    source: Literal["new"] = Field(description="chooses this block")
    architecture: Architecture
    initialisation: Initialisation = Initialisation()
    pretraining: Pretraining | None = Field(None, description="default: no pre-training")


class PretrainedModel(Block):
    """A pretrained encoder or decoder: on the Hugging Face hub, in a folder, or among an installed package's files."""

    BLOCK: ClassVar[str] = "model"  # of the configuration

    name: PathName
    source: Literal["pretrained"] = Field(description="chooses this block")
    hub: Repository | None = Field(None, description="repository on the Hugging Face hub, as openai-community/gpt2")
    revision: Commit | None = Field(None, description="commit of the repository, 40 hex digits")
    folder: str | None = Field(
        None, description="folder in the format of `save_pretrained`; with `package`, a folder inside the package"
    )
    package: str | None = Field(None, description="import name of an installed package that contains the model")

    @model_validator(mode="after")
    def _check_location(self):
        if (self.hub is None) == (self.folder is None):
            raise ValueError("give exactly one of `hub` (with `revision`) and `folder` (with or without `package`)")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` needs `revision`, the full hash of a commit, and `revision` needs `hub`")
        if self.package and self.hub:
            raise ValueError("`package` needs `folder`, a folder inside the package, and no `hub`")
        return self


AnyModel = Annotated[NewModel | PretrainedModel, Field(discriminator="source")]
