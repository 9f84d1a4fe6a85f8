"""Statistics of all experiments: intervals, tests, estimates, and verdicts on claims. No torch."""
