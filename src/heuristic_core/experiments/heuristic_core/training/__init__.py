"""Fine-tuning without some heads."""
