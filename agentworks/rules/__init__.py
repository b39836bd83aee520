"""What is decided. Pure: values in, values out."""
