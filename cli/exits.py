"""Exit codes, and the one exception that ends a command with a line on stderr."""

from enum import IntEnum

from typer import TyperException


class Code(IntEnum):
    """What a command's exit code says. 130: interrupted by Ctrl-C."""

    FINE = 0
    NOT_SUCCESS = 1
    USAGE = 2
    UNREACHABLE = 3
    CONFIGURATION = 4
    REFUSED = 5
    BUSY = 6


#: For `roomkey --help`.
MEANINGS = (
    "0 fine · 1 the outcome is not a success, or doctor found a problem · 2 wrong usage · "
    "3 a server can't be reached · 4 configuration · 5 the API refused · 6 this folder is in use · 130 interrupted"
)


class Trouble(TyperException):
    """Something expected went wrong: one line that says what, and how to mend it."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.exit_code = code.value
