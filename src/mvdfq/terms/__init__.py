"""The terms of a classifier, their sum, and support vector machines on the sum."""
