"""Sentence-pair tasks: downloads, files, generated languages, subsets, encoding. Only `fetch` needs a network."""
