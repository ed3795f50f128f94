"""What the console says where the API refuses a user. The API names scopes, which only programs know."""

from backend.auth.scopes import RANK, ROLE_SCOPES, Scope
from backend.client import ApiProblem


def needed_role(scope: Scope) -> str:
    """Return the roles that have a scope: "You need the role Admin or Compliance officer for this." """
    roles = [str(role).replace("_", " ").capitalize() for role in RANK if scope in ROLE_SCOPES[role]]
    return f"You need the role {' or '.join(roles)} for this."


def explained(problem: ApiProblem) -> str:
    """Return why the API refused: the role that is needed, or else the text of the problem."""
    lacking = problem.body.get("scope", "") if problem.type.endswith("/insufficient-scope") else ""
    known = {str(scope): scope for scope in Scope}
    return needed_role(known[lacking]) if lacking in known else problem.detail or problem.title
