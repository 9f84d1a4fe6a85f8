"""How a transformer of one attention layer comes to sort lists (after Urdshals and Urdshals, arXiv 2501.18666)."""
