"""The order of emails: kinds, then turns of root organizations and people."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from backend.mail import rules
from backend.mail.rules import Queue, Turn, in_turn
from backend.mail.schemas import MailKind

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
ROOT, OTHER_ROOT, ADA, BEN, EVE = (UUID(int=number) for number in range(1, 6))


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def notice(root: UUID, person: UUID, due: int = -1) -> Queue:
    return Queue(MailKind.NOTICE, root, person, at(due))


def sent_in(minutes: int, queues: list[Queue]) -> list[Queue]:
    """Return the queue that sends in each minute; none gets empty."""
    served: dict[Turn, datetime] = {}
    sent = []
    for minute in range(minutes):
        now = [queue for queue in queues if queue.due <= at(minute)]
        sent.append(in_turn(now, served, {})[0])
        served |= dict.fromkeys(sent[-1].turns, at(minute))
    return sent


def test_account_mail_goes_before_older_alarms_and_notices() -> None:
    queues = [
        notice(ROOT, ADA, 0),
        Queue(MailKind.ALARM, ROOT, ADA, at(1)),
        Queue(MailKind.ACCOUNT, OTHER_ROOT, BEN, at(2)),
    ]
    served = dict.fromkeys(queues[2].turns, at(3))
    order = [queue.kind for queue in in_turn(queues, served, {})]
    assert order == [MailKind.ACCOUNT, MailKind.ALARM, MailKind.NOTICE]


def test_kind_that_is_due_has_a_sender_at_any_time() -> None:
    account, alarm = (Queue(kind, ROOT, ADA, at(-9)) for kind in (MailKind.ACCOUNT, MailKind.ALARM))
    queues = [account, alarm, notice(OTHER_ROOT, BEN)]
    assert in_turn(queues, {}, {MailKind.ACCOUNT: 1})[0] == alarm
    assert in_turn(queues, {}, {MailKind.ACCOUNT: 2, MailKind.ALARM: 1})[0] == queues[2]
    assert in_turn(queues, {}, dict.fromkeys(MailKind, 1))[0] == account, "the fourth one has the most urgent kind"


def test_turns_of_one_kind_do_not_delay_those_of_another() -> None:
    alarms = [Queue(MailKind.ALARM, root, person, at(0)) for root, person in ((ROOT, ADA), (OTHER_ROOT, BEN))]
    served = dict.fromkeys(notice(ROOT, ADA).turns, at(9)) | dict.fromkeys(alarms[1].turns, at(1))
    assert in_turn(alarms, served, {}) == alarms


def test_root_with_many_people_gets_the_turns_of_one_root() -> None:
    many = [notice(ROOT, UUID(int=100 + number)) for number in range(50)]
    sent = sent_in(20, [*many, notice(OTHER_ROOT, BEN)])
    assert sum(queue.share_id == OTHER_ROOT for queue in sent) == 10


def test_person_with_many_roots_gets_the_turns_of_one_person() -> None:
    many = [notice(UUID(int=100 + number), EVE) for number in range(50)]
    sent = sent_in(20, [*many, notice(OTHER_ROOT, BEN)])
    assert sum(queue.person_id == BEN for queue in sent) == 10


def test_people_of_one_root_take_turns() -> None:
    sent = sent_in(20, [notice(ROOT, ADA), notice(ROOT, EVE)])
    assert sum(queue.person_id == ADA for queue in sent) == 10


def test_new_roots_do_not_overtake_a_waiting_one() -> None:
    new = [notice(UUID(int=100 + number), UUID(int=200 + number), number) for number in range(1, 60)]
    sent = sent_in(12, [*new, notice(ROOT, ADA), notice(OTHER_ROOT, BEN)])
    assert {ROOT, OTHER_ROOT} <= {queue.share_id for queue in sent[:3]}
    turns = [minute for minute, queue in enumerate(sent) if queue.share_id == ROOT]
    assert len(turns) >= 2, "a queue that had a turn gets the next one before newer ones"


def test_root_and_person_use_at_most_half_of_the_senders_and_the_first_one_of_a_kind() -> None:
    queues = [notice(ROOT, ADA), notice(ROOT, BEN), notice(OTHER_ROOT, EVE), Queue(MailKind.ACCOUNT, ROOT, ADA, at(0))]
    half = rules.SENDERS // 2
    assert in_turn(queues, {}, {ROOT: half, MailKind.NOTICE: half}) == [queues[3], queues[2]]
    taken = {ADA: half, MailKind.NOTICE: 1, MailKind.ACCOUNT: 1}
    assert ADA not in {queue.person_id for queue in in_turn(queues, {}, taken)}
    taken = {ROOT: half - 1, ADA: half - 1, MailKind.NOTICE: 1}
    assert len(in_turn(queues, {}, taken)) == len(queues)
