"""Fields of the results, by their schemas in docs/."""
