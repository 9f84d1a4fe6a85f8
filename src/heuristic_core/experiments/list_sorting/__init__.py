"""How one-layer transformers come to sort lists (after arXiv 2501.18666)."""
