"""Sentence-pair tasks: where pairs come from, which subsets they form, and their encoding."""
