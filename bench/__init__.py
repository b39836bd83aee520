"""Speed, measured as ratios within one run against the machine's own limits: `make bench`."""
