"""What a study will need, before anything of it runs: work, time, disk and memory."""
