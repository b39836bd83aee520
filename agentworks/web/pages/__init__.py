"""Every page of this server: its address, what it shows, and what its buttons do."""

from __future__ import annotations

from agentworks.web.pages import (
    agent,
    connect,
    connection,
    device,
    overview,
    password,
    people,
    sign_in,
    sign_out,
    welcome,
)
from agentworks.web.pages.bounds import CHOICES, FIELDS
from agentworks.web.places import Act, Place

PLACES: tuple[Place, ...] = (
    Place("/", overview.show),
    Place(
        "/sign-in",
        sign_in.show,
        {"sign-in": Act(sign_in.sign_in, ("account_name", "password", "next"))},
        open=True,
    ),
    Place("/sign-out", sign_out.show, {"sign-out": Act(sign_out.sign_out)}),
    Place(
        "/welcome/{secret}",
        welcome.show,
        {"join": Act(welcome.join, ("account_name", "password", "again"))},
        open=True,
    ),
    Place(
        "/connect",
        connect.show,
        {
            "find": Act(connect.find, ("user_code",)),
            "register": Act(connect.register, ("agent_name",), ("connection",)),
        },
    ),
    Place(
        "/connect/{user_code}",
        device.show,
        {
            "approve": Act(device.approve, FIELDS, CHOICES),
            "deny": Act(device.deny, FIELDS, CHOICES),
        },
    ),
    Place(
        "/connect/connections/{connection_id}",
        connection.show,
        {
            "change": Act(connection.change, FIELDS, CHOICES),
            "revoke": Act(connection.revoke, FIELDS, CHOICES),
        },
    ),
    Place(
        "/connect/agents/{agent_name}",
        agent.show,
        {
            "change": Act(agent.change, choices=("connection",)),
            "remove": Act(agent.remove, choices=("connection",)),
        },
    ),
    Place(
        "/people",
        people.show,
        {
            "invite": Act(people.invite, ("account_name",)),
            "disable": Act(people.disable, ("account_id",)),
        },
    ),
    Place(
        "/password",
        password.show,
        {"change": Act(password.change, ("old_password", "password", "again"))},
    ),
)
