"""ssh is a machine asked over SSH, found, checked and logged in to as OpenSSH itself would."""

from tools.hosts.ssh.host import SshHost

__all__ = ["SshHost"]
