"""`cuecard people`: who works in the workspace, and which roles of a PostgreSQL server stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cuecard.core.i18n import N_, _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, say, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.core.records import Membership

Name = Annotated[str, N_("Name of a person")]


@verb("cuecard people add Ana --role ana", "json")
def people(ours: Context) -> Result:
    workspace = ours.workspace
    mine, roles, acted = workspace.roles.mine(), workspace.roles.all(), workspace.roles.acted()
    everybody = workspace.people.all()
    rows = [
        (person.name, role.role if role else "", _rights(role) if mine.proven else "", _since(at))
        for person in everybody
        for role, at in [(r, r.at) for r in roles if r.person == person.name]
        or [(None, person.created_at)]
    ]

    def show() -> None:
        headings = (_("Person"), _("Role"), _("Rights"), _("Since"))
        shown = rows if roles else [(name, since) for name, _role, _rights, since in rows]
        table("", headings if roles else (headings[0], headings[3]), shown)
        if acted:
            headings = (_("When"), _("Role"), _("Worked as"))
            table("", headings, [(_since(each.at), each.role, each.person) for each in acted])

    return Result(
        show,
        lambda: {
            "proven": mine.proven,
            "role": mine.role or None,
            "person": mine.person or None,
            "coordinator": mine.coordinator and mine.proven,
            "people": [
                {
                    "name": person.name,
                    "since": person.created_at.isoformat(),
                    "roles": [_json(r) for r in roles if r.person == person.name],
                }
                for person in everybody
            ],
            "worked_as": [_json(each) | {"person": each.person} for each in acted],
        },
        remarks=lambda: note(mine.told),
    )


@verb("cuecard people add Ana --role ana")
def add(
    ours: Context,
    name: Name,
    *,
    role: Annotated[str, N_("The role of the PostgreSQL server that stands for them")],
    coordinator: Annotated[
        bool, N_("They see everything, and may work as others, which is recorded")
    ] = False,
    create: Annotated[bool, N_("Make the role if there is none")] = False,
) -> Result:
    made = ours.workspace.roles.add(name, role, coordinator=coordinator, create=create)

    def show() -> None:
        say(
            _("{role} is {name} from now on: {rights}.").format(
                role=made.role, name=made.person, rights=_rights(made)
            )
        )
        if create:
            note(_("Set a password in psql: \\password {role}").format(role=made.role))
        note(
            _("They open the workspace by postgresql://{role}@HOST/DATABASE, without --as.").format(
                role=made.role
            )
        )

    return Result(show)


@verb("cuecard people coordinator Cleo")
def coordinator(
    ours: Context,
    name: Name,
    *,
    no_more: Annotated[bool, Help(N_("Not any more"), "--not")] = False,
) -> str:
    ours.workspace.roles.coordinate(name, not no_more)
    text = _("{name} is a member now.") if no_more else _("{name} is a coordinator now.")
    return text.format(name=name)


@verb("cuecard people remove Ana")
def remove(ours: Context, name: Name) -> str:
    ours.workspace.roles.remove(name)
    return _("{name} has no role any more. What they did stays.").format(name=name)


def _rights(role: Membership | None) -> str:
    if role is None:
        return _("no role")
    return _("coordinator") if role.coordinator else _("member")


def _since(at: Any) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def _json(role: Membership) -> dict[str, Any]:
    return {"role": role.role, "coordinator": role.coordinator, "at": role.at.isoformat()}
