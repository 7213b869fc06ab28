"""Counting and comparing on a graphics card with torch; imported only where the card is used."""
