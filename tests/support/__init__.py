"""What the tests share: problems, judges, processes, two small papers."""
