"""Provenance of results: digests of code and files, records of jobs, their audit, and archives of studies."""
