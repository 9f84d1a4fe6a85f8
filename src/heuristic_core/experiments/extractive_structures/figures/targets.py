"""Figures and tables of extractive structures, and the tables that each is drawn from. Every study can have all.

Snakemake imports this module at every start, so it imports nothing heavy.
"""

from heuristic_core.study.target import Target

TARGETS = {
    "figure_curves": Target(
        ("extractive_curves",), "Answers while facts are taught, by what pre-training had of implications"
    ),
    "figure_scores": Target(("extractive_scores",), "Extractive scores of MLPs and heads, by token and layer"),
    "figure_freezing": Target(
        ("extractive_freezing",), "Answers where early or late layers have not learned, or have their former weights"
    ),
    "figure_ordering": Target(
        ("extractive_ordering",), "Answers by the order in which facts and implications are taught"
    ),
    "figure_grafting": Target(
        ("extractive_grafting", "extractive_ordering"), "Answers of a model with grafted weights"
    ),
    "figure_localisation": Target(
        ("extractive_localisation",), "Correlation of scores of implications with scores of other facts"
    ),
    "figure_removal": Target(
        ("extractive_removal", "extractive_agreement"),
        "Correlation of scores with the cost of removal, and with full replacement",
    ),
    "figure_core": Target(
        ("extractive_core", "extractive_sharing"), "Share of subnetworks that keep a component, by its score"
    ),
    "figure_transfer": Target(("extractive_transfer",), "Rank correlations of the scores of heads between relations"),
    "table_answers": Target(
        ("extractive_curves", "extractive_freezing", "extractive_ordering", "extractive_grafting"),
        "Ranks of all experiments, with intervals over seeds",
    ),
}
