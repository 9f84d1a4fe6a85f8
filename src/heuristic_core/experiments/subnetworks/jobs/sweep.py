"""A figure over studies that differ in a setting."""

import json
from typing import Annotated

from heuristic_core.common.roles import Folder, Input, Output, Read
from heuristic_core.config.figure import Figure
from heuristic_core.tables.parquet import read_table


def draw_sweep(
    tables: list[Input], sweep: Annotated[dict, Read(json.loads)], folder: Folder, files: list[Output] = ()
) -> None:
    """Draw what ablating the core costs in studies that differ in a setting.

    Args:
        tables: Table ablations of every study, in the order of the studies (Parquet).
        sweep: Target, figure and the studies' values (JSON).
        folder: Where to write figures/.
        files: The files that are written there, for the record.
    """
    from heuristic_core.experiments.subnetworks.figures.figure_sweep import draw
    from heuristic_core.figures import style
    from heuristic_core.figures.save import save

    settings, title = Figure.model_validate(sweep["figure"]), "What ablating the core costs, by setting"
    with style.use_style(parse_math=False):
        figure, marks = draw([read_table(path) for path in tables], settings, sweep["studies"])
    save(folder, sweep["target"], figure, marks, settings, title, parse_math=False)
