"""With what each result was made: digests, records, and what compares them, explains them and packs them up."""
