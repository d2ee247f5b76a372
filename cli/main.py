"""The `roomkey` command. Modules that take long to import are imported by the commands that need them."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from cli import access, batches, doctor, operations, processes, submit, up
from cli.exits import MEANINGS, Code

app = typer.Typer(
    name="roomkey",
    help="One key, one booking.",
    epilog=f"Exit codes: {MEANINGS}",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they would print local variables, and some are secrets
)
for room in (up, doctor, submit, batches, operations, processes, access):
    room.register(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"roomkey {version('roomkey')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


def main() -> int:
    """Run the command; expected troubles become one line on stderr and an exit code."""
    try:
        return int(app(standalone_mode=False, prog_name="roomkey") or Code.FINE)
    except typer.TyperException as trouble:
        if said := trouble.format_message():  # nothing is left to say where the help was printed
            print(f"roomkey: {said}", file=sys.stderr)  # noqa: T201
        return trouble.exit_code
    except typer.Abort:
        return 130


if __name__ == "__main__":
    sys.exit(main())
