"""What the scenes play on, and what each returns."""

from collections.abc import Callable
from dataclasses import dataclass

from cli.demo.agent import Agent
from cli.demo.hotel import Hotel
from cli.demo.post import Post
from cli.stack import Stack

Say = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """What the scenes play on."""

    agent: Agent
    hotel: Hotel
    post: Post
    stack: Stack
    say: Say


@dataclass(frozen=True)
class Row:
    """One line of the closing table: calls made, and effects that exist.

    `wrong` says what is not as it must be; empty: all right.
    """

    scene: str
    outcome: str
    calls: int
    effects: int
    wrong: str
