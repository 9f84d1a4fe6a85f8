"""Files from the Hugging Face hub, its cache, and other addresses. Only `fetch` needs a network."""
