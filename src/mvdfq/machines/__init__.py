"""Support vector machines on kernel values or features, and the tables they predict by."""
