"""The server is killed, its disk filled and its log held back; then what is left is looked at."""
