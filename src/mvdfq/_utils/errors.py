"""Errors in two parts: one sentence that says what is wrong, and a hint that says what to do."""


class HintedError(Exception):
    """An error with a hint; the command line prints the two on separate lines.

    >>> print(HintedError("a.ts: the file is empty", "name another file"))
    a.ts: the file is empty; name another file
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message, self.hint = message, hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message
