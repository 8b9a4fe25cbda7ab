"""From exact integers to an answer: the one place where noise meets data, and what is made of noisy values."""
