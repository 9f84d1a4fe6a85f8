"""The miniature's language: pairs of sentences, and the heuristic that word overlap means entailment."""
