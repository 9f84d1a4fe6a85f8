"""The blocks of configurations that experiments share, and how configurations are read and checked."""
