"""The lab: a real sshd on loopback, and commands on its PATH that play a GPU server."""
