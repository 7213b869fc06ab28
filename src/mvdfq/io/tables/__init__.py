"""Tables, series in text and arrays -> sequences of numbers."""
