"""The report: one page about a classifier and its sequences, and the numbers behind the page."""
