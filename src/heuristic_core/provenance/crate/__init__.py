"""One archive per study, as an RO-Crate: written by `export`, drawn again by `redraw`."""
