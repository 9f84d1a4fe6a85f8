"""Parquet tables: columns with units and meaning, identity of rows, reading and writing."""
