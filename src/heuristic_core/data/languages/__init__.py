"""Generated languages: each has its own words, rules, labels and evaluation subsets."""
