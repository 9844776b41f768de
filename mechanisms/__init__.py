"""AIM, MST, Independent, Tab-PE and Private-PGM: post-processing of paid, noisy answers."""
