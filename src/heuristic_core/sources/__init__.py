"""Where files come from: the Hugging Face hub and its cache, and addresses. Only `fetch` needs a network."""
