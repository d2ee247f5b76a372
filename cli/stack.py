"""A whole Roomkey under one folder: what isn't named is started embedded, and all of it ends together."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import SecretStr

from booking.settings import Provider, ProviderKind, Settings
from booking.states import Queue
from cli.children import Process, environment, stop_all, wait_listening
from cli.config import dump_settings, names_redis
from cli.embedded.folder import Lock, is_free, port, write_private
from cli.embedded.postgres import start_postgres
from cli.embedded.process import EmbeddedError
from cli.embedded.server import Server
from cli.embedded.valkey import start_valkey
from cli.exits import Code, Trouble
from cli.state import State, forget_state, settings_file, write_state
from cli.tenancy import demo_keys

Say = Callable[[str], None]
#: The simulator's own default, seconds; a provider may allow less.
_IDLE_TIMEOUT = 5
_SPARE_CONNECTIONS = 150


class Embedded:
    """An embedded server that is started again if it dies."""

    def __init__(self, name: str, start: Callable[[], Server]) -> None:
        self.name = name
        self._start = start
        self._server = start()
        self.url = self._server.url

    def supervise(self, say: Say) -> None:
        """Look once. Raises EmbeddedError if it can't come back where it was."""
        if self._server.running:
            return
        say(f"{self.name} ended; starting it again (log: {self._server.child.log})")
        self._server.stop()
        self._server = self._start()
        if self._server.url != self.url:
            raise EmbeddedError(f"{self.name} lost its port to another program; start Roomkey again")

    def stop(self) -> None:
        """Stop it in order."""
        self._server.stop()


@dataclass
class Stack:
    """What runs. Leave its `with` block, or call `stop`, from the main thread."""

    data: Path
    settings: Settings
    api_url: str
    #: Empty where every hotel system has a url of its own.
    pms_url: str
    #: Where caught mail is looked at; empty where no mail catcher was started.
    mail_url: str
    #: Scope → bearer key of the tenant `demo`.
    keys: dict[str, str]
    workers: list[Process]
    processes: list[Process]
    servers: list[Embedded]
    say: Say
    _undo: ExitStack = field(repr=False)

    def supervise(self) -> None:
        """Look once at everything, and start again what died. Call it often, from the main thread."""
        with _told():
            for server in self.servers:
                server.supervise(self.say)
            for process in self.processes:
                process.supervise(self.say)

    def stop(self) -> None:
        """Stop the processes, the simulator and mail catcher, Valkey, Postgres, in this order; once is enough."""
        self._undo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_stack(
    data: Path, settings: Settings, *, on_progress: Say, workers: int = 1, **simulator: str | float
) -> Stack:
    """Start everything under `data`; it is ready on return. Call it from the main thread. Raises Trouble.

    `simulator`: its options by name (mode, idle_timeout, key_life), where it is started.
    """
    with _told(), ExitStack() as undo:
        data = _locked(data, undo)
        builder = _Builder(data, settings, workers, on_progress, undo)
        builder.choose_ports()
        builder.start_simulator(simulator)
        builder.start_catcher()
        builder.start_servers()
        return builder.start_processes()


def _locked(data: Path, undo: ExitStack) -> Path:
    data = data.resolve()
    try:
        undo.callback(Lock(data).release)
    except EmbeddedError as busy:
        raise Trouble(Code.BUSY, str(busy)) from None
    # Postgres may have to run as another user, who must be able to pass through; what is secret is 0600.
    data.chmod(0o711)
    (data / "logs").mkdir(mode=0o700, exist_ok=True)
    return data


class _Builder:
    """The steps of a start, in order; each leaves its undoing behind."""

    def __init__(self, data: Path, settings: Settings, count: int, say: Say, undo: ExitStack) -> None:
        self.data, self.settings, self.count, self.say, self.undo = data, settings, count, say, undo
        self.processes: list[Process] = []
        self.servers: list[Embedded] = []
        self.mail_url = ""

    def choose_ports(self) -> None:
        """Settle the API's port before anything is started: it must stay the same over restarts."""
        chosen = self.settings.api_port
        if chosen == 0:
            chosen = port(self.data / "api.port")
        elif not is_free(chosen):
            mend = "free it, or choose another with ROOMKEY_API_PORT (0: any)"
            raise Trouble(Code.CONFIGURATION, f"port {chosen} is taken; {mend}")
        self._set(api_port=chosen)

    def start_simulator(self, options: dict[str, str | float]) -> None:
        """Start the simulator for the hotel systems without a url, if there are any. It isn't waited for yet."""
        without = self._without_url(ProviderKind.REFERENCE)
        if self.settings.pms_url is not None or not without:
            return
        if len({(provider.mode, provider.token) for provider in without}) > 1:
            raise Trouble(Code.CONFIGURATION, "the providers without a url differ in mode or token; name their urls")
        self.say("starting the hotel simulator")
        number = port(self.data / "simulator.port")
        self._set(pms_url=f"http://127.0.0.1:{number}")
        arguments = ["simulator", "--port", str(number)]
        for name, value in {**_simulator_defaults(without[0]), **options}.items():
            arguments += [f"--{name.replace('_', '-')}", str(value)]
        token = without[0].token
        extra = {"ROOMKEY_PMS_TOKEN": token.get_secret_value()} if token else {}
        self._start_now(self._process("simulator", arguments, listens=True, **extra))

    def start_catcher(self) -> None:
        """Start the mail catcher for the mail servers without a url, if there are any. It isn't waited for yet."""
        if self.settings.smtp_url is not None or not self._without_url(ProviderKind.SMTP):
            return
        self.say("starting the mail catcher: no mail leaves this machine")
        smtp, http = (port(self.data / f"mailcatcher-{name}.port") for name in ("smtp", "http"))
        self._set(smtp_url=f"smtp://127.0.0.1:{smtp}")
        self.mail_url = f"http://127.0.0.1:{http}"
        arguments = ["mailcatcher", "--smtp-port", str(smtp), "--http-port", str(http)]
        self._start_now(self._process("mailcatcher", arguments, listens=True))

    def start_servers(self) -> None:
        """Start Postgres and Valkey where none is named."""
        settings = self.settings
        if settings.database_url is None:
            postgres = self._serve("PostgreSQL", self._postgres)
            self._set(database_url=SecretStr(postgres.url))
        if settings.broker_url is None or not names_redis(settings):
            valkey = self._serve("Valkey", lambda: start_valkey(self.data / "valkey", say=self.say))
            url = SecretStr(valkey.url)
            self._set(broker_url=settings.broker_url or url, redis_url=settings.redis_url or url)

    def start_processes(self) -> Stack:
        """Migrate, make the keys, start api, workers and caretaker side by side, and wait for who listens."""
        # Registered again: what finishes now needs the simulator and the mail catcher, nothing needs them after it.
        self.undo.callback(stop_all, list(self.processes))
        self.say("preparing the database")
        keys = demo_keys(self.settings, self.data)
        write_private(settings_file(self.data), dump_settings(self.settings))
        self.undo.callback(forget_state, self.data)
        self.say("starting the API, workers and caretaker")
        api = self._process("api", ["api"], listens=True)
        now = f"{Queue.BOOKINGS},{Queue.QUARANTINE}"
        workers = [
            self._process(f"worker-{number}", ["worker", "--queues", now]) for number in range(1, self.count + 1)
        ]
        # In a process of its own, with few threads: a thousand mails must not stand in the way of one booking.
        batch = self._process("worker-batch", ["worker", "--queues", Queue.BATCH])
        ours = [api, *workers, batch, self._process("caretaker", ["caretaker"])]
        self.undo.callback(stop_all, ours)
        for process in ours:
            process.start()
        wait_listening(self.processes)
        host = "127.0.0.1" if self.settings.api_host in ("0.0.0.0", "::") else self.settings.api_host  # noqa: S104
        api_url = f"http://{f'[{host}]' if ':' in host else host}:{self.settings.api_port}"
        pms_url = self.settings.pms_url or ""
        write_state(self.data, State(api_url=api_url, pms_url=pms_url or None, mail_url=self.mail_url or None))
        return Stack(
            data=self.data,
            settings=self.settings,
            api_url=api_url,
            pms_url=pms_url,
            mail_url=self.mail_url,
            keys=keys,
            workers=workers,
            processes=self.processes,
            servers=self.servers,
            say=self.say,
            _undo=self.undo.pop_all(),
        )

    def _postgres(self) -> Server:
        # One connection for each thread of each worker; the rest for the API, the caretaker and workers by hand.
        most = self.count * self.settings.worker.threads + _SPARE_CONNECTIONS
        return start_postgres(self.data / "postgres", settings={"max_connections": most}, say=self.say)

    def _serve(self, name: str, start: Callable[[], Server]) -> Embedded:
        server = Embedded(name, start)
        self.undo.callback(server.stop)
        self.servers.append(server)
        return server

    def _process(self, name: str, arguments: list[str], *, listens: bool = False, **extra: str) -> Process:
        env = environment(settings_file(self.data), self.data, **extra)
        process = Process(name, arguments, self.data / "logs" / f"{name}.log", env, listens)
        self.processes.append(process)
        return process

    def _start_now(self, process: Process) -> None:
        process.start()
        self.undo.callback(stop_all, [process])

    def _without_url(self, kind: ProviderKind) -> list[Provider]:
        return [one for one in self.settings.providers.values() if one.kind is kind and one.url is None]

    def _set(self, **values: Any) -> None:
        self.settings = self.settings.model_copy(update=values)


def _simulator_defaults(provider: Provider) -> dict[str, str | float]:
    """The simulator must do what the provider declares."""
    return {"mode": provider.mode.value, "idle_timeout": max(1, min(_IDLE_TIMEOUT, int(provider.idle_timeout)))}


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except EmbeddedError as error:
        raise Trouble(Code.UNREACHABLE, str(error)) from None
