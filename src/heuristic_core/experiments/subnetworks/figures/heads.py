"""Colours of groups of heads, the same in all figures.

They are of Okabe and Ito's palette, without the colours of groups of subsets.
"""

CORE_COLOUR = "black"
COUNTER_COLOUR = "#E69F00"  # counter-heuristic heads
RANDOM_COLOUR = "0.6"  # random heads in place of others, and heads that belong to no group
