"""Every Parquet table: its columns with units and meaning, the identity of its rows, reading and writing."""
