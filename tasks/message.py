"""The Celery app, made from settings: no work at import, no retry, no ETA, no result, no beat.

Why each option is there: docs/decisions/0002-messages-are-hints.md.
"""

from collections.abc import Iterable

from celery import Celery
from kombu import Queue as BrokerQueue

from booking.states import Queue

#: The one task. Its only argument is the item's id.
RUN_ITEM = "roomkey.run_item"

#: Socket timeouts toward the broker, seconds: without them publishing to a paused broker blocks for ever.
PUBLISH_SECONDS = 0.25
WORKER_SECONDS = 5.0


def queue_names(providers: Iterable[str], kinds: Iterable[Queue] = tuple(Queue)) -> list[str]:
    """The queues of these kinds for these providers."""
    return [kind.of(provider) for kind in kinds for provider in sorted(providers)]


def make_app(broker_url: str, socket_timeout: float, queues: Iterable[str]) -> Celery:
    """A Celery app on `broker_url` (redis://…, amqp://…) with these queues. `socket_timeout` is in seconds."""
    app = Celery("roomkey", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=True,
        task_acks_on_failure_or_timeout=True,
        task_publish_retry=False,
        task_queues=[BrokerQueue(queue) for queue in queues],
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_timeout=socket_timeout,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_pool_limit=16,
        broker_transport_options=_transport(broker_url, socket_timeout),
        enable_utc=True,
    )
    return app


def _transport(broker_url: str, socket_timeout: float) -> dict[str, object]:
    if not broker_url.startswith("redis"):
        return {"confirm_publish": True, "max_retries": 0}
    return {
        "max_retries": 0,  # kombu connects again within a publish, after a sleep of 2 s; the relay is our retry
        # A message lost with its worker is sent again by the relay, so Redis need not keep a second record of it:
        # that record is four commands a message, comes back after minutes, and runs twice after a connection blip.
        "ack_emulation": False,
        "priority_steps": [0],  # queues instead of priorities; each step would be one more list to wait on
        "socket_timeout": socket_timeout,
        "socket_connect_timeout": socket_timeout,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }
