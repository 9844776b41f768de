"""A first release from start to end: the RAND Health Insurance Experiment."""
