"""Paths of a study's results, as patterns whose wildcards the workflow fills in.

``<results>/<study>/seed{seed}/{corpus}/model.safetensors``; tables and logs are beside the folders of seeds.
"""

from heuristic_core.study.layout import Layout as BaseLayout


class Layout(BaseLayout):
    """Path patterns of a study."""

    @property
    def model(self) -> str:
        """Weights after pre-training."""
        return f"{self.root}/seed{{seed}}/{{corpus}}/model.safetensors"

    @property
    def pretrained(self) -> str:
        """Weights of a model that was pre-trained elsewhere."""
        return f"{self.root}/pretrained/model.safetensors"

    @property
    def tokenizer(self) -> list[str]:
        """Files of the tokenizer of a model that was pre-trained elsewhere."""
        return [f"{self.root}/pretrained/{name}.json" for name in ("tokenizer", "tokenizer_config")]

    def hop_weights(self, hop: str) -> str:
        """Return the path of the weights after teaching a hop's facts."""
        return f"{self.root}/seed{{seed}}/{{corpus}}/{hop}.safetensors"

    def corpus_table(self, name: str) -> str:
        """Return the path of a table about one seed and one corpus of pre-training."""
        return f"{self.root}/seed{{seed}}/{{corpus}}/{name}.parquet"

    def seed_table(self, name: str) -> str:
        """Return the path of a table about one seed's model of the whole corpus."""
        return f"{self.root}/seed{{seed}}/{name}.parquet"
