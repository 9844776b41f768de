"""Evidence: does what ran keep what was claimed, and what does the output preserve or reveal."""
