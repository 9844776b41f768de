"""A release by private evolution from start to end: breast cancer Wisconsin (diagnostic)."""
