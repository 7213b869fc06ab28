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


class ParameterError(HintedError, ValueError):
    """A parameter that cannot be used: its name, what is wrong with it, and what to do.

    Python calls the parameter ``n_jobs``; the command line calls it ``--n-jobs``.

    >>> print(ParameterError("n_jobs", "must not be 0", "pass -1 for all processors"))
    n_jobs must not be 0; pass -1 for all processors.
    """

    def __init__(self, name: str, problem: str, hint: str = "") -> None:
        super().__init__(f"{name} {problem}", hint)
        self.name, self.problem = name, problem
        self.args = (name, problem, hint)  # an error travels between processes as its arguments

    def __str__(self) -> str:
        return f"{super().__str__()}."
