"""Path patterns of every result of a list-sorting study, with wildcards that the workflow fills in.

``<results>/<study>/<condition>/step{step}.safetensors``; the paths in `study.OTHERS` are beside the conditions'
folders.
"""

from heuristic_core.study.layout import Layout as BaseLayout


class Layout(BaseLayout):
    """Path patterns of a study."""

    @property
    def condition(self) -> str:
        """Folder of a condition."""
        return f"{self.root}/{{condition}}"

    @property
    def checkpoint(self) -> str:
        """Weights of all seeds of a condition at one step."""
        return f"{self.condition}/step{{step}}.safetensors"

    def part(self, name: str) -> str:
        """Return the path of a table of one condition."""
        return f"{self.condition}/{name}.parquet"
