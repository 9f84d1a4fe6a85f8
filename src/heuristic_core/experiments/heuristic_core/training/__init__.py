"""Fine-tuning with heads removed."""
