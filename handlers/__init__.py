"""One function per operation. This page is the switchboard: every call lands on a line below."""

from __future__ import annotations

from typing import Any

from agentworks import visible_calls
from agentworks.contracts import accounts as a
from agentworks.contracts import agents as g
from agentworks.contracts import calls as c
from agentworks.contracts import crews as w
from agentworks.contracts import files as o
from agentworks.contracts import functions as f
from agentworks.contracts import messages as m
from agentworks.contracts import turns as t
from agentworks.dispatch import Handler, Study
from handlers.accounts.approve_device import approve_device
from handlers.accounts.change_connection import change_connection
from handlers.accounts.connections import connections
from handlers.accounts.context import context
from handlers.accounts.deny_device import deny_device
from handlers.accounts.disable import disable
from handlers.accounts.find_device import find_device
from handlers.accounts.invite import invite
from handlers.accounts.list import list_accounts
from handlers.accounts.revoke_connection import revoke_connection
from handlers.agents import ask
from handlers.agents.list import list_agents as list_visible
from handlers.calls.get import get
from handlers.calls.list import list_calls
from handlers.calls.read_file import read_file
from handlers.calls.reply import reply
from handlers.crews import apply, set_runtime
from handlers.crews.delete import delete as delete_crew
from handlers.crews.export import export
from handlers.crews.get import get as get_crew
from handlers.crews.pause import pause
from handlers.crews.set_member import set_member
from handlers.crews.set_messaging import set_messaging
from handlers.files.delete import delete as delete_file
from handlers.files.list import list_files
from handlers.files.read import read as read_agent_file
from handlers.files.search import search as search_files
from handlers.files.write import write as write_file
from handlers.functions import call, define, teaching
from handlers.functions.delete import delete as delete_function
from handlers.functions.list import list_functions
from handlers.messages.list_agents import list_agents
from handlers.messages.read import read
from handlers.messages.register import register
from handlers.messages.send import send
from handlers.messages.send_batch import send_batch
from handlers.messages.unregister import unregister
from handlers.turns.ask_person import ask_person
from handlers.turns.get_answer import get_answer
from handlers.turns.report_progress import report_progress
from handlers.turns.request_input import request_input
from handlers.wakeups.cancel import cancel
from handlers.wakeups.reschedule import reschedule
from handlers.wakeups.schedule import schedule

HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(m.SEND, send, subject=lambda receipt: receipt.message_id, opens_nothing=True),
    Handler(m.SEND_BATCH, send_batch, opens_nothing=True),
    Handler(m.READ, read),
    Handler(m.REGISTER, register),
    Handler(m.UNREGISTER, unregister),
    Handler(m.LIST_AGENTS, list_agents),
    Handler(a.CONTEXT, context),
    Handler(a.CONNECTIONS, connections),
    Handler(a.CHANGE_CONNECTION, change_connection),
    Handler(a.REVOKE_CONNECTION, revoke_connection),
    Handler(a.FIND_DEVICE, find_device),
    Handler(a.APPROVE_DEVICE, approve_device),
    Handler(a.DENY_DEVICE, deny_device),
    Handler(a.INVITE, invite),
    Handler(a.ACCOUNTS, list_accounts),
    Handler(a.DISABLE, disable),
    # asking and calling
    Handler(
        g.ASK,
        ask.ask,
        subject=lambda answer: answer.call_id,
        recover=visible_calls.recovered,
        understood=ask.understood,
        opens_nothing=True,
    ),
    Handler(
        f.CALL,
        call.call,
        subject=lambda answer: getattr(answer, "call_id", None),  # Busy began nothing
        recover=visible_calls.recovered,
        understood=call.understood,
        study=Study(call.heavy, call.study),
        teach=teaching.teach,
        opens_nothing=True,
    ),
    Handler(c.GET, get),
    Handler(c.REPLY, reply, opens_nothing=True),
    Handler(c.READ_FILE, read_file),
    Handler(c.LIST, list_calls),
    # who is there, and what it is
    Handler(g.LIST, list_visible),
    Handler(f.LIST, list_functions),
    Handler(f.DEFINE, define.define, prepare=define.prepared),
    Handler(f.DELETE, delete_function),
    Handler(w.APPLY, apply.apply, prepare=apply.prepared),
    Handler(w.EXPORT, export),
    Handler(w.GET, get_crew),
    Handler(w.DELETE, delete_crew),
    Handler(w.SET_MEMBER, set_member),
    Handler(w.SET_MESSAGING, set_messaging),
    Handler(w.SET_RUNTIME, set_runtime.set_runtime, prepare=set_runtime.prepared),
    Handler(w.PAUSE, pause),
    Handler(o.LIST, list_files),
    Handler(o.READ, read_agent_file),
    Handler(o.WRITE, write_file),
    Handler(o.DELETE, delete_file),
    Handler(o.SEARCH, search_files),
    # inside a running turn
    Handler(t.REPORT_PROGRESS, report_progress),
    Handler(t.ASK_PERSON, ask_person),
    Handler(t.REQUEST_INPUT, request_input),
    Handler(t.GET_ANSWER, get_answer),
    Handler(t.SCHEDULE_WAKEUP, schedule),
    Handler(t.RESCHEDULE_WAKEUP, reschedule),
    Handler(t.CANCEL_WAKEUP, cancel),
)
