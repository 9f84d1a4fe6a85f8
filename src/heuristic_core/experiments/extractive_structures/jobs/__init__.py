"""The jobs of the experiment as functions from files to files, one module for each script of the workflow."""
