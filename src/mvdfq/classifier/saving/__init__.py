"""Fitted classifiers as files; reading a file does not run code from the file."""
