"""measure adds bounded load to a server and changes nothing; what it says of two runs rests on their spread."""
