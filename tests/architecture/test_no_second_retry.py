"""Only `tasks/decide.py` decides to call a provider again: no library option, no task option and no loop does."""

import pytest

from tests.architecture.files import ROOT, sources
from tests.architecture.scan import POLICY, RUNS, loops, retries

TEXTS = {path.as_posix(): (ROOT / path).read_text() for path in sources()}

LIBRARIES = [
    "@app.task(autoretry_for=(OSError,))\ndef run(): ...",
    "self.retry()",
    "raise task.retry(exc=error)",
    "@app.task(max_retries=3)\ndef run(): ...",
    "client = Client(max_retries=None)",
    "transport = httpx.HTTPTransport(retries=2)",
    "options = {'max_retries': 5}",
    "conf.update(task_publish_retry=True)",
    "conf.update({'task_publish_retry': True})",
    "conf.update(task_publish_retry_policy={})",
    "Retry(3)",
    "Retry(NoBackoff(), 1)",
    "Retry(ExponentialBackoff(), 0)",
    "Redis(host='x')",
    "redis.Redis.from_url(url)",
    "Redis.from_url(url, retry=Retry(NoBackoff(), 3))",
    "redis.asyncio.Redis(host='x')",
    "import tenacity",
    "from tenacity import retry",
    "import stamina",
    "import backoff",
    "from backoff import on_exception",
    "run.apply_async((1,), countdown=5)",
    "run.apply_async((1,), retry=False, eta=when)",
    "run.apply_async((1,))",
    "run.apply_async((1,), retry=True)",
    "app.send_task('roomkey.run_item', (1,))",
    "run.delay(1)",
    "from celery import chord",
    "from celery.canvas import group, chain",
    "celery.chain(a, b)",
    "create_engine(url, pool_pre_ping=True)",
    "make(retry_on_timeout=True)",
    "stripe.Client(max_network_retries=2)",
]
LOOPS = [
    "for day in days:\n    pms.availability(line, day, 2.5)",
    "while page.next_cursor:\n    page = pms.arrivals(line, asked, 2.5)",
    "for _ in range(4):\n    pms.get_booking(line, asked, 2.5)",
    "for _ in range(3):\n    pms.create_booking(line, body, key)",
    "while True:\n    found = self._pms.find_by_reference(line, reference)",
    "while True:\n    line = runtime.provider.connect()",
    "for n in range(2):\n    attempt(runtime, item, kind, held)",
    "for n in range(2):\n    if n:\n        with suppress(OSError):\n            operation.write(pms, line)",
    "while not (reply := line.request('POST', '/')):\n    pass",
    "found = [pms.find_by_reference(line, one) for one in many]",
    "def once():\n    return pms.create_booking(line, body, key)\nfor _ in range(3):\n    once()",
    "def a():\n    pms.create_booking(line, body, key)\ndef b():\n    a()\nwhile True:\n    b()",
    "class C:\n  def a(self):\n    open_line(url, 2)\n  def b(self):\n    while True:\n      self.a()",
]
INNOCENT = [
    "for address in found:\n    sock.connect(address)",
    "for job in jobs:\n    job.run_once()",
    "with engine.connect() as connection:\n    for row in rows:\n        connection.execute(row)",
    "for booking in pms.find_by_reference(line, reference):\n    print(booking)",
    "while True:\n    file.write(chunk)",
]


def test_no_library_tries_again_behind_our_back() -> None:
    assert [line for path, text in TEXTS.items() for line in retries(text, path)] == []


def test_no_loop_goes_round_a_provider_call_but_the_run_itself() -> None:
    assert loops(TEXTS) == []


def test_the_files_that_may_are_there() -> None:
    assert {POLICY, *RUNS} <= set(TEXTS)
    for run in RUNS:
        assert loops({"tasks/other.py": TEXTS[run]}), "the run's own loop would be found anywhere else"


@pytest.mark.parametrize("snippet", LIBRARIES)
def test_every_way_to_switch_a_retry_on_is_found(snippet: str) -> None:
    assert retries(snippet, "tasks/offender.py")
    assert retries(snippet, POLICY) == []


@pytest.mark.parametrize(
    "snippet",
    [
        "@app.task(max_retries=0)\ndef run(): ...",
        "Redis.from_url(url, retry=Retry(NoBackoff(), 0))",
        "app.send_task('x', (1,), retry=False)",
        "from redis.backoff import NoBackoff\nfrom redis.retry import Retry",
        "httpx.HTTPTransport(retries=0)",
        "make(retry_after=3.0)",
    ],
)
def test_what_switches_a_retry_off_is_left_alone(snippet: str) -> None:
    assert retries(snippet, "tasks/innocent.py") == []


def test_outside_celery_retry_may_be_a_word_of_our_own() -> None:
    """`POST /v1/intents/{id}/retry` is the agent asking again."""
    assert retries("client.retry(intent_id)", "api/intents.py") == []
    assert retries("import celery\ntask.retry()", "api/intents.py")


@pytest.mark.parametrize("snippet", LOOPS)
def test_every_loop_round_a_provider_call_is_found(snippet: str) -> None:
    assert loops({"providers/offender.py": snippet})


def test_a_loop_round_a_function_of_another_file_is_found() -> None:
    inner = "def book(pms):\n    return pms.create_booking(line, body, key)"
    outer = "from providers.inner import book as again\nwhile True:\n    again(pms)"
    assert loops({"providers/inner.py": inner, "tasks/outer.py": outer}) == ["tasks/outer.py:2 again("]


@pytest.mark.parametrize("snippet", INNOCENT)
def test_a_loop_that_reaches_no_provider_is_left_alone(snippet: str) -> None:
    assert loops({"providers/innocent.py": snippet}) == []
