"""Training: fine-tuning and pre-training loops, their steps, and the saved state of unfinished work."""
