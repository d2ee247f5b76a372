"""For operations: what waits for a person, and undoing what stops things."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.exits import Code, Trouble
from cli.options import Config, Data, Json, settings_of
from cli.state import FOLDER

if TYPE_CHECKING:
    from dedupe.dead_letters import Letter
    from dedupe.engine import Engine

letters = typer.Typer(help="Dead letters: what waits for a person.", no_args_is_help=True)

_PANEL = "Operations"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.add_typer(letters, name="dead-letters", rich_help_panel=_PANEL)
    app.command(rich_help_panel=_PANEL)(resume)
    app.command(rich_help_panel=_PANEL)(unstop)


@letters.command("list")
def list_letters(
    reason: Annotated[str | None, typer.Option(help="Only those of one reason, e.g. unknown_outcome.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="So many at most, those waiting longest.")] = 50,
    after: Annotated[int, typer.Option(min=0, help="Go on after the letter with this id.")] = 0,
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """List what waits for a person, longest waiting first."""
    from booking.states import DeadLetter
    from cli.database import opened
    from cli.screen import print_json
    from dedupe import dead_letters as store

    if reason is not None and reason not in set(DeadLetter):
        raise Trouble(Code.USAGE, f"--reason: must be one of {', '.join(DeadLetter)}")
    with opened(settings_of(config, data)) as engine:
        found = store.list_letters(engine, DeadLetter(reason) if reason else None, limit + 1, after)
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json([_plain(letter) for letter in shown])
    else:
        _show(shown, more)


def _plain(letter: "Letter") -> dict[str, Any]:
    return {
        "id": letter.id,
        "tenant": letter.tenant_id,
        "reason": letter.reason,
        "state": letter.state,
        "item": letter.item_id,
        "key": letter.key,
        "conversation": letter.conversation_id,
        "since": letter.since.isoformat(),
        "age_s": round(letter.age),
        "detail": letter.detail,
    }


def _show(shown: "list[Letter]", more: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    from cli.screen import coloured, err, out

    if not shown:
        out.print("nothing waits for a person", markup=False)
        return
    table = Table("id", "tenant", "reason", "state", "key", "conversation", "age", "detail")
    for one in shown:
        what = (escape(one.tenant_id), one.reason.value, coloured(one.state.value), escape(one.key))
        table.add_row(str(one.id), *what, escape(one.conversation_id), _age(one.age), escape(one.detail))
    out.print(table)
    if more:
        err.print(f"there are more: --after {shown[-1].id}", markup=False)


def _age(seconds: float) -> str:
    """The largest unit: 3 d, 5 h, 12 min, 40 s."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def resume(
    provider: Annotated[str, typer.Argument(help="The provider's name in the configuration, e.g. pms.")],
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Call a paused provider again: its settings are mended."""
    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe import pauses

    with opened(settings_of(config, data)) as engine:
        woken = pauses.resume(engine, provider)
        paused = [pause.provider for pause in pauses.list_pauses(engine)]
    if woken is None:
        others = f"; paused: {', '.join(paused)}" if paused else "; no provider is"
        raise Trouble(Code.NOT_SUCCESS, f"the provider {provider} is not paused{others}")
    if as_json:
        print_json({"provider": provider, "due": woken})
    else:
        out.print(f"{provider} is called again; {woken} waiting items are due", markup=False)


def unstop(
    conversation: Annotated[str, typer.Argument(help="The stopped conversation's id.")],
    reason: Annotated[str, typer.Option(help="Why calls may go on; kept in the events.")],
    tenant: Annotated[str | None, typer.Option(help="Whose conversation (default: the only tenant's).")] = None,
    config: Config = None,
    data: Data = FOLDER,
    as_json: Json = False,
) -> None:
    """Lift a guard's stop of a conversation; failures before no longer count."""
    from pydantic import TypeAdapter, ValidationError

    from booking.text import Note
    from cli.database import opened
    from cli.screen import out, print_json
    from dedupe import conversations

    try:
        said = TypeAdapter[str](Note).validate_python(reason)
    except ValidationError:
        raise Trouble(Code.USAGE, "--reason: must be a text of at most 2000 characters") from None
    with opened(settings_of(config, data)) as engine:
        tenant = tenant or _only_tenant(engine)
        lifted = conversations.lift(engine, tenant, conversation, said)
    if lifted is None:
        raise Trouble(Code.NOT_SUCCESS, f"the tenant {tenant} has no conversation {conversation}")
    if not lifted:
        raise Trouble(Code.NOT_SUCCESS, f"the conversation {conversation} is not stopped; nothing was changed")
    if as_json:
        print_json({"tenant": tenant, "conversation": conversation, "lifted": True})
    else:
        out.print(f"the conversation {conversation} goes on", markup=False)


def _only_tenant(engine: "Engine") -> str:
    from dedupe import tenants

    names = tenants.list_tenants(engine)
    if not names:
        raise Trouble(Code.NOT_SUCCESS, "there is no tenant yet, so nothing is stopped")
    if len(names) > 1:
        raise Trouble(Code.USAGE, f"--tenant: say whose conversation: {', '.join(names)}")
    return names[0]
