"""Fitted classifiers as files; reading a file does not run code from the file."""

# The entry of a model file that describes the model; here, since the rest takes long to import.
DESCRIPTION = "model.json"
