"""The authors' published results as a study: read the files, rename their subsets, and write the tables of a study."""
