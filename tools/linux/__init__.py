"""linux is what is known of the operating system: PCI, the kernel log, the machine, processes."""
