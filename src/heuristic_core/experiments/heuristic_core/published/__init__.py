"""The authors' published results as a study of their own: read, named as our subsets are, and written as our tables."""
