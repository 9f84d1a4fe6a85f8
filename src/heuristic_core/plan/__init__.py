"""Estimates of what a study needs before it runs: jobs, work, time, disk and memory."""
