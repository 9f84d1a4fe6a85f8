"""Building blocks of figures and tables for all experiments: style, panels, lines, heat maps, sheets, files."""
