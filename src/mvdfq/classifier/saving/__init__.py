"""Fitted classifiers as files; reading a file executes nothing."""
