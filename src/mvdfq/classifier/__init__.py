"""SequenceClassifier: parts, presets, search, streams and model files."""
