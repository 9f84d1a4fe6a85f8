"""Squares of integers: the smallest experiment."""
