"""Identical rooms with wishes of their own: which known item each asked one stands for."""

from hypothesis import given, settings
from hypothesis import strategies as st

from booking.binding import Binding, Known, bind
from booking.errors import ErrorCode
from booking.states import State

COT = Known(1, 0, State.SUCCEEDED, values="a cot")
LIFT = Known(2, 1, State.SUCCEEDED, values="no lift")
SOLD_OUT = Known(3, 2, State.FAILED, ErrorCode.CONFLICT, "a view")
REFUSED = Known(4, 3, State.FAILED, ErrorCode.INVALID_ARGUMENT, "a pool")


def ids(bindings: list[Binding]) -> list[int | None]:
    return [binding.known.id if binding.known else None for binding in bindings]


def test_each_means_the_one_with_its_values_whatever_was_told_at_its_place() -> None:
    assert ids(bind(2, [COT, LIFT], values=["no lift", "a cot"])) == [2, 1]
    assert ids(bind(2, [COT, LIFT], {0: 1, 1: 2}, values=["no lift", "a cot"])) == [2, 1]
    assert ids(bind(1, [SOLD_OUT, COT], values=["a cot"])) == [1]
    assert ids(bind(1, [COT, REFUSED], values=["a pool"])) == [4], "answered from the record"


def test_other_values_are_for_what_does_not_exist() -> None:
    assert ids(bind(1, [COT, REFUSED, SOLD_OUT], values=["a garden"])) == [3]
    assert ids(bind(1, [COT, REFUSED], values=["a garden"])) == [4]
    assert ids(bind(2, [COT, REFUSED], {0: 1, 1: 4}, values=["a garden", "a cot"])) == [4, 1]
    assert ids(bind(1, [COT, REFUSED], {0: 1}, values=["a garden"])) == [1], "told before: it is told what differs"


def test_one_more_is_a_failed_one_or_a_new_one_and_chooses_first() -> None:
    assert ids(bind(1, [COT, SOLD_OUT], additional={0}, values=["a cot"])) == [3]
    assert ids(bind(2, [COT, SOLD_OUT], additional={1}, values=["a view", "a view"])) == [1, 3]
    assert bind(1, [COT, REFUSED], additional={0}, values=["a cot"]) == [Binding(None, 4)]
    assert ids(bind(1, [COT, LIFT], {0: 2}, {0}, ["no lift"])) == [2], "the same call again"


VALUES = st.sampled_from(["", "a cot", "no lift"])


@st.composite
def knowns(draw: st.DrawFn) -> list[Known]:
    made = draw(st.lists(st.tuples(st.sampled_from(State), st.none() | st.sampled_from(ErrorCode), VALUES), max_size=7))
    return [Known(100 + at, at, state, code, values) for at, (state, code, values) in enumerate(made)]


@settings(max_examples=100, deadline=None)
@given(knowns(), st.lists(VALUES, max_size=9), st.data())
def test_no_item_stands_for_two_and_none_is_made_while_one_is_free(
    known: list[Known], values: list[str], data: st.DataObject
) -> None:
    numbers = [item.id for item in known]
    told = dict(enumerate(data.draw(st.permutations(numbers))))
    more = data.draw(st.sets(st.integers(0, 8), max_size=2))
    bindings = bind(len(values), known, data.draw(st.sampled_from([{}, told])), more, values)
    assert len(bindings) == len(values)
    used = [number for number in ids(bindings) if number is not None]
    assert len(set(used)) == len(used)
    new = [at for at, binding in enumerate(bindings) if binding.known is None]
    free = [item for item in known if item.id not in used]
    assert not free or set(new) <= more
    assert not (new and any(item.may_pass for item in free))


@settings(max_examples=100, deadline=None)
@given(knowns(), st.data())
def test_the_same_rooms_in_any_order_are_each_the_same_room(known: list[Known], data: st.DataObject) -> None:
    order = data.draw(st.permutations(known))
    told = dict(enumerate(data.draw(st.permutations([item.id for item in known]))))
    bindings = bind(len(order), known, told, values=[item.values for item in order])
    assert [binding.known and binding.known.values for binding in bindings] == [item.values for item in order]
