"""The ground: errors, whole files, seeds, arithmetic and threads, logs. It imports nothing else of this package."""
