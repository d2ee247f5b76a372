"""The letters that hotels send to guests: what they say, in which language, as plain text and as HTML. No I/O."""

from tasks.operations.letters.check_in import TEMPLATE, reminder

__all__ = ["TEMPLATE", "reminder"]
