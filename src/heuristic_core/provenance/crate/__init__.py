"""One RO-Crate archive per study: `export` writes it, `redraw` draws figures from it."""
