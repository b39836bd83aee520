"""One module per kind of printed passage. Each turns something the code declares into Markdown."""
