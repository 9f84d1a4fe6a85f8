"""Basics: errors, atomic files, seeds, arithmetic, threads, logs. They import nothing else of this package."""
