"""bench adds bounded load to a server that a person names, and says whether two sets of runs differ."""
