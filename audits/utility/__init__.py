"""How alike two tables are. On private rows every figure is exact and unpaid: for the curator's eyes only."""
