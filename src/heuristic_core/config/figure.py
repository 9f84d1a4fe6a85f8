"""The settings of figures. See :mod:`heuristic_core.config.blocks`."""

from typing import Annotated

from pydantic import Field, PositiveInt

from heuristic_core.config.blocks import Block, DotsPerInch, Positive, Unit


class Figure(Block):
    """Settings of one figure or table."""

    width: Annotated[Positive, Unit("inches")] = Field(7.0, description="width of the picture")
    height: Annotated[Positive | None, Unit("inches")] = Field(
        None, description="height of the picture; default: chosen by the figure"
    )
    subsets: list[str] | None = Field(None, description="subsets shown, in this order; default: those of the analysis")
    dpi: DotsPerInch = Field(200, description="of the PNG")


class AllFigures(Block):
    """Settings of all figures."""

    dpi: DotsPerInch = Field(200, description="of PNG files")
    width: Annotated[PositiveInt, Unit("inches")] = Field(7, description="width of the picture")
