"""Estimates of what a study needs before it runs: work, time, disk and memory."""
