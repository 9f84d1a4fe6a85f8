"""What figures and tables of all experiments are made with: one look, panels, lines, heat maps, sheets, files."""
