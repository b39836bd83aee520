"""Who acts: the only rooms that start programs, touch their files and reach other machines.

A runner claims a row, acts outside any transaction, and settles the row. What it runs is behind
one seam (`runtime`); how it runs is decided here (`supervisor`, `processes`, `sandbox`).
"""
