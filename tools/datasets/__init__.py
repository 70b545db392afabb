"""Builders of the datasets: recipes, archives of registries, official files."""
