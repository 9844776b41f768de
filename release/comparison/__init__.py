"""Several releases side by side: error against ε, by mechanism, with the spread over runs."""
