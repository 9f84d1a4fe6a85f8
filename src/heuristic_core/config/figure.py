"""The settings of a figure. See :mod:`heuristic_core.config.blocks`."""

from pydantic import Field, PositiveInt

from heuristic_core.config.blocks import Block, Positive


class Figure(Block):
    """Settings of one figure or table."""

    width: Positive = Field(7.0, description="inches")
    height: Positive | None = Field(None, description="inches; default: chosen by the figure")
    subsets: list[str] | None = Field(None, description="subsets shown, in this order; default: those of the analysis")
    dpi: PositiveInt = Field(200, description="of the PNG")
