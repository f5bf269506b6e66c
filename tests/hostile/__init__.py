"""Files that somebody hands in and disks that are full, over all readers and writers."""
