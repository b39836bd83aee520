"""The one way through: authorise, decode, recall, perform, commit, ring, and perhaps wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Generic

from msgspec import Struct

from agentworks import clock, decoding, retries
from agentworks.bells import Bells
from agentworks.contracts.operation import Answer, Caller, Operation, Request
from agentworks.contracts.refusal import Fault, Refuse, Refused
from agentworks.identity.callers import Who
from agentworks.rules import limits, refusals
from agentworks.store import Full, Held, Patience, Snapshot, Store, Transaction

log = logging.getLogger("agentworks.dispatch")


_PREPARING_MAX = 2  # requests prepared at once: each may take a thread for seconds

#: Does an errand: takes a value that says what is wanted, gives the answer. Runs on a thread.
Doer = Callable[[Any], Any]


class Deferred(Struct, frozen=True):
    """An answer that is still to be fetched: by an errand outside the transaction (0016).

    A handler decides all there is to decide and returns this in place of its answer; whoever was
    given to Dispatch for that kind of errand finishes it, off the event loop.
    """

    errand: Struct


class Study(Struct, Generic[Request], frozen=True):
    """Work on a heavy request that would hold up every other writer, done on a thread beforehand.

    `begin` sees a snapshot and gives the work, or None; what the work finds is `tx.studied`.
    """

    heavy: Callable[[Request], bool]
    begin: Callable[[Snapshot, Caller, Request], Callable[[], Any] | None]


class Handler(Struct, Generic[Request, Answer], frozen=True):
    """An operation and the function that performs it, type-checked as a pair.

    `perform` takes a Snapshot if the operation only reads, else a Transaction. The rest is for
    operations whose retries are recognised (0006, 0017): `subject` gives the id of what an answer
    began, or None if it began nothing; `recover` the answer to a retry, from that id, where it is
    not simply the first answer; `understood` the fingerprint of what a request means, where one
    meaning has several spellings (a handler also leaves it as `tx.understood`).

    `prepare` is work on the request alone that would hold up every other writer: it is done on a
    thread, for callers who may ask, and gives the request that `perform` receives. `teach` may
    say more to a caller who sent this object, which cannot even be read as a request. `study` is
    for requests that only some callers make so large that judging them needs a thread.

    `opens_nothing` says that performing it changes nobody's access, so that others in its
    transaction need not look again.
    """

    operation: Operation[Request, Answer]
    perform: Callable[[Any, Caller, Request], Answer | Refused | Deferred]
    subject: Callable[[Answer], str | None] | None = None
    recover: Callable[[Any, Caller, str], Answer] | None = None
    understood: Callable[[Any, Caller, Request], bytes] | None = None
    prepare: Callable[[Request], Request] | None = None
    study: Study[Request] | None = None
    teach: Callable[[Any, Caller, dict[str, Any], Refused], Refused] | None = None
    opens_nothing: bool = False


class Dispatch:
    """Answers calls. A refusal or a fault comes back as data: nothing is raised to a surface."""

    def __init__(
        self,
        store: Store,
        bells: Bells,
        handlers: Iterable[Handler[Any, Any]],
        used: Callable[[Caller], None] = lambda caller: None,
        errands: Mapping[type[Struct], Doer] = MappingProxyType({}),
    ) -> None:
        """`used` is told each caller that was let in, on whatever thread found out.

        `errands` are those who finish deferred answers, by the type of what they are asked.
        """
        self._store = store
        self._bells = bells
        self._used = used
        self._errands = errands
        self._preparing = asyncio.Semaphore(_PREPARING_MAX)
        self._handlers = {each.operation.name: each for each in handlers}

    async def __call__(
        self, operation: Operation[Request, Answer], who: Who, args: object
    ) -> Answer | Refused | Fault:
        """Perform `operation` for `who`.

        `args` is a dict from a wire, the typed request, or the Refuse that reading the wire
        ended in (told only to those who may ask).
        """
        try:
            answer: Answer | Refused = await self._answer(operation, who, args)
            return answer
        except Refuse as refusal:
            refused = refusal.refused
        except Full:
            refused = refusals.storage_full().refused
        except Held:
            refused = refusals.unavailable().refused
        except Exception:
            fault_id = clock.new_id("fault")
            log.exception("fault %s in %s", fault_id, operation.name)
            return Fault(fault_id)
        if refused.code not in operation.every_refusal:
            log.error("%s refused with undeclared %s", operation.name, refused.code)
        return refused

    async def _answer(self, operation: Operation[Any, Any], who: Who, args: object) -> Any:
        try:
            request = decoding.request_of(operation, args)
        except Refuse as refusal:
            raise self._unreadable(operation, who, args, refusal.refused) from None
        handler, studied = self._handlers[operation.name], None
        if handler.prepare is not None:
            self.admit(operation, who)
            async with self._preparing:
                request = await asyncio.to_thread(handler.prepare, request)
        elif handler.study is not None and handler.study.heavy(request):
            studied = await self._studied(operation, who, request, handler.study)
        return await self._perform(operation, who, request, studied)

    async def _studied(
        self, operation: Operation[Any, Any], who: Who, request: Any, study: Study[Any]
    ) -> Any:
        def begin(db: Snapshot) -> Callable[[], Any] | None:
            return study.begin(db, self._authorised(db, who, operation), request)

        work, _ = self._store.read(begin)
        if work is None:
            return None
        async with self._preparing:
            return await asyncio.to_thread(work)

    def _unreadable(
        self, operation: Operation[Any, Any], who: Who, args: object, refused: Refused
    ) -> Refuse:
        """What is wrong with the arguments: told only to those who may ask."""
        teach = self._handlers[operation.name].teach

        def tell(db: Snapshot) -> Refused:
            caller = self._authorised(db, who, operation)
            if teach is None or not isinstance(args, dict):
                return refused
            return teach(db, caller, args, refused)

        return Refuse(self._store.read(tell)[0])

    def admit(self, operation: Operation[Any, Any], who: Who) -> None:
        """Raises Refuse unless `who` may ask for `operation` now."""
        self._store.read(lambda db: self._authorised(db, who, operation))

    async def _perform(
        self, operation: Operation[Any, Any], who: Who, request: Any, studied: Any = None
    ) -> Any:
        asked = operation
        wanted = getattr(request, "wait_seconds", 0)
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            ticket = self._bells.now()
            (answer, caller), patience = await self._once(asked, operation, who, request, studied)
            if patience is None or not wanted:
                return await self._finished(answer)
            remaining = began + min(wanted, longest_wait(caller)) - loop.time()
            if remaining <= 0:
                return answer
            if self._bells.waiters >= limits.WAITING_READERS_MAX:
                if not asked.reads:
                    return answer  # what is done cannot be refused; the caller reads on later
                raise refusals.unavailable()
            rang = await self._bells.wait(patience.topic, ticket, remaining)
            if not rang:
                wanted = 0  # read once more: who waits may have been shut out meanwhile
            if patience.then is not None:
                operation, request = patience.then

    async def _finished(self, answer: Any) -> Any:
        if not isinstance(answer, Deferred):
            return answer
        return await asyncio.to_thread(self._errands[type(answer.errand)], answer.errand)

    async def _once(
        self,
        asked: Operation[Any, Any],
        operation: Operation[Any, Any],
        who: Who,
        request: Any,
        studied: Any,
    ) -> tuple[tuple[Any, Caller], Patience | None]:
        """Perform `operation` once. `asked`, which it may continue, is what must be allowed."""
        handler = self._handlers[operation.name]
        if operation.reads:

            def read(db: Snapshot) -> tuple[Any, Caller]:
                caller = self._authorised(db, who, asked)
                return handler.perform(db, caller, request), caller

            return self._store.read(read)

        def write(tx: Transaction) -> tuple[Any, Caller]:
            tx.keeps_memo, tx.studied = handler.opens_nothing, studied
            caller = self._authorised(tx, who, asked)
            if handler.subject is None:
                return handler.perform(tx, caller, request), caller
            answer: Any = recalled(tx, caller, handler, request)
            if answer is None:
                answer = handler.perform(tx, caller, request)
                subject = None if isinstance(answer, Refused) else handler.subject(answer)
                if subject is not None:
                    kept = None if handler.recover else answer
                    holder = retries.holder(caller)
                    retries.remember(tx, holder, operation, request, kept, subject)
            return answer, caller

        done: tuple[tuple[Any, Caller], Patience | None] = await self._store.submit(write)
        return done

    def _authorised(self, db: Snapshot, who: Who, operation: Operation[Any, Any]) -> Caller:
        caller = who(db)
        if caller.kind not in operation.offered_to:
            raise refusals.not_offered(caller)
        if operation.scope is not None and operation.scope not in caller.scopes:
            raise refusals.scope_missing(operation.scope)
        self._used(caller)
        return caller


def recalled(tx: Transaction, caller: Caller, handler: Handler[Any, Any], request: Any) -> Any:
    """The answer to a retry, or None when this submission is new."""
    recover, understood = handler.recover, handler.understood
    return retries.recall(
        tx,
        retries.holder(caller),
        handler.operation,
        request,
        recover and partial(recover, tx, caller),
        understood and partial(understood, tx, caller, request),
    )


def longest_wait(caller: Caller) -> int:
    """Seconds this caller may wait ([S0] "External waits and message pages")."""
    return limits.INSIDE_WAIT_SECONDS_MAX if caller.turn_id else limits.WAIT_SECONDS_MAX
