"""Files that work without dpcurator: each is copied away and run alone (so nothing here imports anything of it)."""
