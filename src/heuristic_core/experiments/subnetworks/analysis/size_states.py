"""Tell apart effective sizes that are defined, known as bounds, undefined or missing."""

import pandas as pd

DEFINED, BOUNDED, UNDEFINED, MISSING = "defined", "bounded", "undefined", "missing"


def classify_sizes(sizes: pd.DataFrame) -> pd.Series:
    """Classify each row of table "effective_size".

    "defined"; "bounded" (only `least` and `most` are known); "undefined" (the full model does not exceed the margin, so
    there is nothing to be faithful to); or "missing" (something was not run, or failed).
    """
    known = sizes["least"].notna()
    states = sizes["reason"].str.partition(":")[0].where(~known, DEFINED)
    return states.mask(known & (sizes["least"] < sizes["most"]), BOUNDED).astype(str)


def format_bound(least: float, most: float) -> str:
    """Format a bound, such as "above 80 %", "at most 20 %" or "60 to 67 %".

    Args:
        least: Lower end, percent; 0 for none.
        most: Upper end, percent; 100 for none.
    """
    low, high = (f"{round(end, 1):g}" for end in (least, most))
    if least == 0:
        return f"at most {high} %"
    return f"above {low} %" if most == 100 else f"{low} to {high} %"
