"""What a study will need, before anything of it runs: jobs, work, time, disk and memory."""
