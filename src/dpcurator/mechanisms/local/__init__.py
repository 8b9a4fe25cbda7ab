"""Local differential privacy: each person randomises their own report."""
